// Elasticsearch as tests see it: plain requests, and an alias of their own whose indices are deleted at the
// end.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/documents.h"
#include "tests/support/http_stream.h"

namespace lockstep::support {

/// A connection to the server of elasticsearch_url(). For one thread.
class ElasticsearchServer {
 public:
  struct Reply {
    int status = 0;
    std::string body;
    nlohmann::json json() const { return nlohmann::json::parse(body); }
  };

  /// `path` begins with '/' and is percent-encoded. Throws HttpStreamError when there is no reply.
  Reply request(const std::string& method, const std::string& path, std::string_view body = {});

  /// The same, and throws std::runtime_error with the reply when its status isn't 2xx.
  nlohmann::json expect(const std::string& method, const std::string& path, std::string_view body = {});

  /// major.minor and whether it is OpenSearch, from GET /. None of it when the server doesn't say (8.19's
  /// test build).
  std::string version();

 private:
  std::unique_ptr<HttpStream> stream_;
};

class ElasticsearchIndex {
 public:
  /// Chooses an alias "test-<purpose>-<random>"; creates nothing.
  explicit ElasticsearchIndex(std::string_view purpose);
  /// Deletes the indices <alias>-* and <alias>.
  ~ElasticsearchIndex();
  ElasticsearchIndex(const ElasticsearchIndex&) = delete;
  ElasticsearchIndex& operator=(const ElasticsearchIndex&) = delete;

  const std::string& alias() const { return alias_; }

  /// The concrete indices whose names begin with the alias, in order of their names.
  std::vector<std::string> concrete() const;

  /// Every document that a search finds after a refresh. Throws when the alias is missing.
  StoredDocuments documents() const;
  std::int64_t count() const;

  /// A document by GET, which needs no refresh.
  std::optional<StoredDocument> get(const std::string& id, const std::string& routing = {}) const;

  /// Writes or deletes a document behind the product's back, without a version.
  void damage(const std::string& id, const std::optional<std::string>& json, const std::string& routing = {});

  ElasticsearchServer& server() const { return server_; }

 private:
  std::string alias_;
  mutable ElasticsearchServer server_;
};

}  // namespace lockstep::support
