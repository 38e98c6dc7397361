// The administrative client: which engine this is, its indices and aliases. For `check`, `plan`, `apply`,
// `status` and `verify`. The bulk writer writes documents, the folder `read` reads them.
//
// Every function throws Error if it fails: retryable after a lost connection, 408, 429, 5xx and for a blocked
// index; not retryable if the operator must act first (credentials, a missing index, a refusal).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/transport/busy_wait.h"
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

/// A real index as Elasticsearch has it.
struct IndexState {
  std::string name;
  std::string uuid;  ///< changes when the index is deleted and created again
  std::vector<std::string> aliases;
  /// Those of them that do not cover the whole index: they have a filter or a routing.
  std::vector<std::string> narrow_aliases;
  /// Each alias's options: {"posts": {"filter": …, "is_write_index": true}}
  nlohmann::json alias_options = nlohmann::json::object();
  nlohmann::json mappings;  ///< {"properties": …, "_meta": …}, or {}
  nlohmann::json settings;  ///< flat: {"index.number_of_shards": "1", …}
};

/// Not thread-safe: one for each thread.
class ElasticsearchClient {
 public:
  explicit ElasticsearchClient(std::unique_ptr<HttpTransport> transport,
                               std::chrono::milliseconds timeout = std::chrono::seconds(60),
                               WhenBusy when_busy = {});

  /// Sets how long each request may take from now on.
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  EngineInfo info();

  /// The real indices behind `name`, an alias or an index; empty if there is none.
  std::vector<IndexState> indices_of(const std::string& name);

  /// All indices ALIAS-NNNNNN, with or without the alias, in the order of their numbers.
  std::vector<IndexState> generations(const std::string& alias);

  /// `body` is {"settings": …, "mappings": …, "aliases": …}.
  void create_index(const std::string& index, const nlohmann::json& body);
  void delete_index(const std::string& index);
  void put_mapping(const std::string& index, const nlohmann::json& mappings);
  void put_settings(const std::string& index, const nlohmann::json& settings);

  /// Makes everything that was written searchable.
  void refresh(const std::string& alias);
  void refresh(const std::vector<std::string>& aliases);

  /// The number of documents that a search would find.
  std::int64_t count(const std::string& alias);

  /// The average bytes of a document of `alias` on disk. None: there are no documents, the server has not
  /// measured them yet (it does so every ten seconds), or the user may not ask.
  std::optional<std::int64_t> average_stored_size(const std::string& alias);

  /// For other readers and writers of this folder: sends, and returns a reply of status 2xx or one of
  /// `accepted`; any other is an Error, unless the server is busy and that is waited for (when_busy). `doing`
  /// names the purpose, e.g. "creating index posts-000001".
  HttpResponse send(const std::string& doing, const std::string& method, const std::string& path,
                    std::string_view body = {}, std::initializer_list<int> accepted = {});

  /// The same for replies that are JSON.
  nlohmann::json send_json(const std::string& doing, const std::string& method, const std::string& path,
                           std::string_view body = {});

  /// Sends once, and returns the reply whatever its status. Throws Error if there is none, ReplyTooLarge if
  /// it is larger than `most_reply_bytes`.
  HttpResponse exchange(const std::string& doing, const std::string& method, const std::string& path,
                        std::string_view body = {},
                        std::size_t most_reply_bytes = std::numeric_limits<std::size_t>::max());

  const WhenBusy& when_busy() const { return when_busy_; }

  /// From any thread: ends a call in progress with an Error and lets later ones fail.
  void cancel() { transport_->cancel(); }

 private:
  std::unique_ptr<HttpTransport> transport_;
  std::chrono::milliseconds timeout_;
  const WhenBusy when_busy_;
};

/// Sends a request that makes an index. Does nothing if another process has made one of that name meanwhile.
/// Does not wait until every node has it.
void make_unless_there(ElasticsearchClient& client, const std::string& doing, const std::string& method,
                       const std::string& path, const nlohmann::json& body);

/// Whether `status` means success.
bool is_2xx(int status);

/// Whether the server has too much to do for the request now: 429, 503, or a circuit breaker has stopped it.
bool is_busy(const HttpResponse& response);

/// A reply of an unwanted status, as an Error.
Error reply_error(const std::string& doing, const HttpResponse& response);

/// Parses the body of a reply. Throws a retryable Error for anything but a JSON object (a proxy's page, a cut
/// reply).
nlohmann::json parse_reply(const std::string& doing, const HttpResponse& response);

/// "posts-000007" → 7; 0 when `index` is not a generation of `alias`.
std::int64_t generation_number(std::string_view alias, std::string_view index);

/// ("posts", 7) → "posts-000007"
std::string generation_name(std::string_view alias, std::int64_t number);

}  // namespace lockstep
