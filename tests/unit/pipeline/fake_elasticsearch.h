// Elasticsearch in memory behind the HTTP transport: bulk requests with external versions, tombstones that
// are forgotten on command, shards chosen by routing, and reading back by id and by scan; indices that come
// and go, and aliases that move. It keeps a record of what it was asked, and refuses, holds or fails requests
// when a test wants it to.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/clock.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/elasticsearch/transport/http_transport.h"

namespace lockstep::fake {

/// A document as an index holds it. A deleted one has no json, and a version until it is forgotten.
struct IndexedDocument {
  std::string routing;
  std::int64_t version = 0;
  std::optional<std::string> json;
  SteadyTime deleted_at{};
};

/// One operation of a bulk request, in the order in which they were applied or turned down.
struct Operation {
  std::string alias;  ///< as the request names the index
  std::string index;  ///< the real one; empty: there is none
  int uuid = 0;       ///< its
  std::string id;
  std::string routing;
  bool is_delete = false;
  std::int64_t version = 0;
  int status = 0;
  bool is_new = false;  ///< the document was not there
};

/// Thread-safe.
class Elasticsearch {
 public:
  explicit Elasticsearch(int shards = 3) : shards_(shards) {}

  BulkWriter::TransportFactory transports();

  /// What an index or an alias of one holds: id and routing → JSON.
  using Documents = std::map<std::pair<std::string, std::string>, std::string>;
  Documents documents(const std::string& alias) const;

  /// What a search finds. None: the alias stands for nothing, or for several indices.
  std::optional<Documents> search(const std::string& alias) const;

  /// The real index behind an alias; empty: none, or several.
  std::string index_of(const std::string& alias) const;

  /// Which index that is: another one gets another number. 0: none, or several.
  int uuid_of(const std::string& alias) const;

  /// All real indices.
  std::vector<std::string> indices() const;
  std::optional<IndexedDocument> get(const std::string& alias, const std::string& id,
                                     const std::string& routing = {}) const;

  /// Writes or deletes behind the pipeline's back.
  void damage(const std::string& alias, const std::string& id, const std::optional<std::string>& json,
              const std::string& routing = {});

  /// An index ALIAS-000001 with its alias and our mark, as `apply` makes it.
  void create(const std::string& alias, const std::string& identity);
  std::int64_t epoch(const std::string& alias) const;
  void set_epoch(const std::string& alias, std::int64_t epoch);

  /// Another index stands behind the alias, with the same mark and without documents.
  void replace(const std::string& alias);

  /// A snapshot of what is there is restored over the closed index, which keeps its uuid.
  void restore(const std::string& alias);

  /// The index is deleted, and its alias with it. The next create() makes another one.
  void remove(const std::string& alias);
  bool has(const std::string& alias) const;

  /// The alias leads to an index of another pipeline, until lead_back().
  void lead_elsewhere(const std::string& alias, const std::string& identity);
  void lead_back(const std::string& alias);

  /// Somebody moves the alias in one call; to a new index without a mark where there is none of this name.
  void move_alias(const std::string& alias, const std::string& index);

  /// Something else stands behind the alias, which `apply` has not made.
  void forget_mark(const std::string& alias);

  /// What index.refresh_interval does, where it is not off.
  void refresh_by_itself();

  /// gc_deletes has passed: for all deletions, or for those before a time.
  void forget_deletes(SteadyTime before = SteadyTime::max());

  /// Documents whose JSON contains `text` are refused, as a mapping conflict is; empty: none.
  void refuse(const std::string& text);

  /// Documents whose JSON contains `text` are kept as `json`, as an ingest pipeline does; empty: none.
  void keep_otherwise(const std::string& text, const std::string& json);

  /// Bulk requests wait before they are applied until release(). await_held() waits until so many do.
  void hold();
  void release();
  void await_held(std::size_t requests);

  /// Called for each request before anything else, without locks held: a reply to give instead of acting, or
  /// a TransportError to throw. An empty function ends it.
  using Interceptor = std::function<std::optional<HttpResponse>(const HttpRequest&)>;
  void intercept(Interceptor interceptor);

  /// Called for each operation when it is applied or turned down, with the document's JSON.
  void listen(std::function<void(const Operation&, const std::string&)> listener) {
    listener_ = std::move(listener);
  }

  /// The next bulk request is applied, and its reply is lost.
  void lose_next_reply();

  std::vector<Operation> operations() const;
  std::vector<Operation> operations_on(const std::string& id) const;
  std::size_t bulk_requests() const;
  /// Bytes of the largest bulk request.
  std::size_t largest_bulk() const;
  /// Bytes of the largest reply.
  std::size_t largest_reply() const;
  /// Ids that were in two bulk requests at the same time.
  std::set<std::string> overlaps() const;

 private:
  friend class FakeTransport;

  using Stored = std::map<std::pair<int, std::string>, IndexedDocument>;  // by shard and id

  struct Index {
    Stored documents;
    Stored searchable;  // at the last refresh
    nlohmann::json mappings = nlohmann::json::object();
    nlohmann::json settings = nlohmann::json::object();  // flat
    nlohmann::json aliases = nlohmann::json::object();   // with what each says besides
    int uuid = 0;
    int history = 0;
  };
  using Indices = std::map<std::string, Index>;  // by their own names

  class InFlight;

  HttpResponse perform(const HttpRequest& request, const bool& cancelled);
  HttpResponse perform_bulk(const HttpRequest& request, const Interceptor& interceptor,
                            const bool& cancelled);
  HttpResponse bulk(std::string_view body);
  HttpResponse answer(const HttpRequest& request);
  HttpResponse multi_get(const HttpRequest& request, const std::string& name);
  HttpResponse search_request(const std::string& name, std::string_view body);
  HttpResponse search_ids(const std::string& name, const nlohmann::json& query);
  HttpResponse scroll(std::string_view body);
  HttpResponse refresh(const std::string& listed);
  HttpResponse index_request(const HttpRequest& request, const std::string& name);
  HttpResponse create_index(const std::string& name, const std::string_view& body);
  HttpResponse change_aliases(std::string_view body);
  HttpResponse states(const std::vector<std::string>& names) const;
  std::vector<std::string> names_of(const std::string& name) const;
  std::string name_of(const std::string& name) const;
  const Index& at(const std::string& name) const { return indices_.at(name_of(name)); }
  Index& at(const std::string& name) { return indices_.at(name_of(name)); }
  nlohmann::json& mark(const std::string& name) { return at(name).mappings["_meta"]["lockstep"]; }
  static Documents found_in(const Stored& documents);
  nlohmann::json apply(const nlohmann::json& action, const std::string& source);
  nlohmann::json scan_page(const std::string& scroll_id);
  int shard_of(const std::string& id, const std::string& routing) const;
  void wait_while_held(const bool& cancelled);

  const int shards_;
  std::function<void(const Operation&, const std::string&)> listener_ = [](const auto&, const auto&) {};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Everything below is guarded by mutex_.
  Indices indices_;
  int last_uuid_ = 0;
  std::map<std::string, std::string> home_;  // the index of an alias that leads elsewhere
  std::string refused_text_;
  std::string changed_text_;
  std::string changed_json_;
  bool holding_ = false;
  std::size_t held_ = 0;
  bool lose_reply_ = false;
  Interceptor interceptor_;
  std::vector<Operation> operations_;
  std::size_t bulk_requests_ = 0;
  std::size_t largest_bulk_ = 0;
  std::size_t largest_reply_ = 0;
  std::multiset<std::string> in_flight_;
  std::set<std::string> overlaps_;
  struct Scan {
    std::string index;
    int uuid = 0;
    std::vector<nlohmann::json> hits;
    std::size_t next = 0;
    std::size_t page = 0;
  };
  std::map<std::string, Scan> scans_;
};

}  // namespace lockstep::fake
