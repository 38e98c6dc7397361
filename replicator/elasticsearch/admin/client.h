// The administrative client: which engine this is, its indices and aliases. For `check`, `plan`, `apply`,
// `status` and `verify`; documents are written by the bulk writer and read by document_reader.h.
//
// Every function throws Error when it could not be done: retryable for a lost connection, 408, 429, 5xx and a
// blocked index; never retryable for what somebody has to change first (credentials, a missing index, a
// refusal).
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/transport/http_transport.h"
#include "replicator/error.h"

namespace lockstep {

struct EngineInfo {
  enum class Distribution { kElasticsearch, kOpenSearch };
  Distribution distribution = Distribution::kElasticsearch;
  std::string version;  ///< "7.10.2"
  std::string cluster_name;
  std::string cluster_uuid;

  /// "Elasticsearch 7.10.2"
  std::string text() const;
  /// Elasticsearch 7.10 to 9, OpenSearch 2 and 3.
  bool supported() const;
};

/// A real index as it is.
struct IndexState {
  std::string name;
  std::string uuid;  ///< another one when the index was deleted and made again
  std::vector<std::string> aliases;
  nlohmann::json mappings;  ///< {"properties": …, "_meta": …}; an object, perhaps empty
  nlohmann::json settings;  ///< flat: {"index.number_of_shards": "1", …}
};

/// Not thread-safe: one for each thread.
class ElasticsearchClient {
 public:
  explicit ElasticsearchClient(std::unique_ptr<HttpTransport> transport,
                               std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// How long requests may take from now on, each.
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  EngineInfo info();

  /// The real indices that `name` (of an alias or of an index) stands for; empty if there is none.
  std::vector<IndexState> indices_of(const std::string& name);

  /// All indices ALIAS-NNNNNN, with or without the alias, in the order of their numbers.
  std::vector<IndexState> generations(const std::string& alias);

  /// `body` is {"settings": …, "mappings": …, "aliases": …}.
  void create_index(const std::string& index, const nlohmann::json& body);
  void delete_index(const std::string& index);
  void put_mapping(const std::string& index, const nlohmann::json& mappings);
  void put_settings(const std::string& index, const nlohmann::json& settings);

  /// Lets `alias` stand for `to` instead of `from`, in one step: no search sees neither or both.
  void swap_alias(const std::string& alias, const std::string& from, const std::string& to);

  /// Makes what has been written searchable.
  void refresh(const std::string& alias);
  void refresh(const std::vector<std::string>& aliases);

  /// How many documents a search would find.
  std::int64_t count(const std::string& alias);

  /// The bytes that a document of `alias` takes on the disk, on average; none: there is none, the server has
  /// not weighed them yet (it does so every ten seconds), or the user may not ask.
  std::optional<std::int64_t> average_stored_size(const std::string& alias);

  /// For other readers and writers of this folder: sends, and returns a reply of status 2xx or one of
  /// `accepted`; any other is an Error. `doing` says what for, e.g. "creating index posts-000001".
  HttpResponse send(const std::string& doing, const std::string& method, const std::string& path,
                    std::string_view body = {}, std::initializer_list<int> accepted = {});

  /// The same for replies that are JSON.
  nlohmann::json send_json(const std::string& doing, const std::string& method, const std::string& path,
                           std::string_view body = {});

  /// From any thread: ends a call in progress with an Error and lets later ones fail.
  void cancel() { transport_->cancel(); }

 private:
  std::unique_ptr<HttpTransport> transport_;
  std::chrono::milliseconds timeout_;
};

/// The Error that a reply means which is not the wanted one.
Error reply_error(const std::string& doing, const HttpResponse& response);

/// The body of a reply as JSON; a retryable Error when it is none (a proxy's page, a cut reply).
nlohmann::json parse_reply(const std::string& doing, const HttpResponse& response);

/// "posts-000007" → 7; 0 when `index` is no generation of `alias`.
std::int64_t generation_number(std::string_view alias, std::string_view index);

/// ("posts", 7) → "posts-000007"
std::string generation_name(std::string_view alias, std::int64_t number);

}  // namespace lockstep
