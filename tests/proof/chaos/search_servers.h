// The Elasticsearch of a run: one node, or a cluster whose indices have a replica on another node. Nodes can
// be crashed and frozen, one at a time; what is acknowledged has to be there afterwards.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/private_engine.h"
#include "tests/support/tcp_proxy.h"

namespace lockstep::chaos {

class SearchServers {
 public:
  /// Starts `nodes` of the engine of this name (scripts/engine --help) in `folder`; a single one is taken
  /// over when it runs in `folder`/engine.
  SearchServers(const std::string& name, const std::filesystem::path& folder, int nodes);

  /// Leads to a node that runs. Stays the same.
  const std::string& url() const { return url_; }
  int nodes() const { return static_cast<int>(nodes_.size()); }

  /// kill -9, and a start with the same data. Returns when the cluster has all its copies again.
  void crash(int node);
  /// SIGSTOP and SIGCONT. Clients go to another node meanwhile, where there is one.
  void freeze(int node);
  void thaw(int node);

  /// The elected master: the only node where there is one.
  int master();

  /// Each shard of `alias` gets a copy on another node. REQUIRES: the index is there, and there are several
  /// nodes.
  void replicate(const std::string& alias);

 private:
  void lead_away_from(int node);
  void await_green();

  std::vector<std::unique_ptr<support::PrivateEngine>> nodes_;
  std::unique_ptr<support::TcpProxy> entrance_;
  std::string url_;
  int led_to_ = 0;
};

}  // namespace lockstep::chaos
