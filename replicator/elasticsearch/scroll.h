// A search that the server keeps open, page after page, until its end or that of its scope: it holds files
// there.
#pragma once

#include <string>
#include <string_view>

#include "replicator/elasticsearch/client.h"

namespace lockstep {

/// How long the server keeps it after each page, as it takes it.
inline constexpr std::string_view kScrollLifetime = "5m";

class Scroll {
 public:
  /// `client` must outlive this.
  explicit Scroll(ElasticsearchClient& client) : client_(client) {}
  Scroll(const Scroll&) = delete;
  Scroll& operator=(const Scroll&) = delete;
  /// Ends it on the server; where that fails it ends there by itself.
  ~Scroll();

  /// What the last reply called it.
  void has_id(std::string_view id) { id_ = id; }

  /// What asks for the next page.
  std::string next_body() const;

 private:
  ElasticsearchClient& client_;
  std::string id_;
};

}  // namespace lockstep
