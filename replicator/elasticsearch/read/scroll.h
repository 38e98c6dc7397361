// A search that the server keeps open from page to page. It holds files there, so this object ends it when it
// goes out of scope.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// How long the server keeps it open after each page.
inline constexpr std::chrono::minutes kScrollLifetime{5};

class Scroll {
 public:
  /// `client` must outlive this.
  explicit Scroll(ElasticsearchClient& client, std::chrono::minutes lifetime = kScrollLifetime)
      : client_(client), lifetime_(std::to_string(lifetime.count()) + "m") {}
  Scroll(const Scroll&) = delete;
  Scroll& operator=(const Scroll&) = delete;
  /// Ends it on the server. If that fails, it ends there after its lifetime.
  ~Scroll();

  /// As the server takes it: "5m".
  const std::string& lifetime() const { return lifetime_; }

  /// Keeps the id that the last reply gave it.
  void has_id(std::string_view id) { id_ = id; }

  /// The body of the request for the next page.
  std::string next_body() const;

 private:
  ElasticsearchClient& client_;
  const std::string lifetime_;
  std::string id_;
};

}  // namespace lockstep
