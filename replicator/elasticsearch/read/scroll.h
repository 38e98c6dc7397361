// A search that the server keeps open, page after page, until its end or that of its scope: it holds files
// there.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// How long the server keeps it after each page.
inline constexpr std::chrono::minutes kScrollLifetime{5};

class Scroll {
 public:
  /// `client` must outlive this.
  explicit Scroll(ElasticsearchClient& client, std::chrono::minutes lifetime = kScrollLifetime)
      : client_(client), lifetime_(std::to_string(lifetime.count()) + "m") {}
  Scroll(const Scroll&) = delete;
  Scroll& operator=(const Scroll&) = delete;
  /// Ends it on the server; where that fails it ends there by itself.
  ~Scroll();

  /// As the server takes it: "5m".
  const std::string& lifetime() const { return lifetime_; }

  /// What the last reply called it.
  void has_id(std::string_view id) { id_ = id; }

  /// What asks for the next page.
  std::string next_body() const;

 private:
  ElasticsearchClient& client_;
  const std::string lifetime_;
  std::string id_;
};

}  // namespace lockstep
