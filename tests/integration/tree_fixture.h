// Shared by the tests of the tree: a real engine with a tree and locks for this test alone, and any number of
// clients.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicator/locks/open_locks.h"
#include "replicator/tree/tree.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/eventually.h"
#include "tests/support/servers.h"

namespace lockstep {

inline std::string scheme_name(const testing::TestParamInfo<TreeConfig::Locking>& scheme) {
  if (scheme.param == TreeConfig::Locking::kTree) return "Tree";
  return scheme.param == TreeConfig::Locking::kGlobal ? "Global" : "Document";
}

/// A process that changes the tree.
struct TreeClient {
  explicit TreeClient(Config its_config)
      : config(std::move(its_config)), locks(open_locks(config)), tree(open_tree(config, *locks)) {
    tree->prepare();
  }

  Config config;
  std::unique_ptr<LockManager> locks;
  std::unique_ptr<Tree> tree;
};

class TreeTest : public testing::Test {
 protected:
  static constexpr std::chrono::seconds kLong{60};  ///< nobody dies
  static constexpr std::chrono::seconds kPatience{60};

  Config config(TreeConfig::Locking locking, std::chrono::milliseconds lease = kLong,
                const std::string& url = support::elasticsearch_url()) const {
    Config config;
    config.elasticsearch.urls = {url};
    config.locks.index = index_.alias() + "-locks";
    config.locks.lease = lease;
    config.tree.index = tree_index();
    config.tree.locking = locking;
    return config;
  }
  std::unique_ptr<TreeClient> open(TreeConfig::Locking locking, std::chrono::milliseconds lease = kLong,
                                   const std::string& url = support::elasticsearch_url()) const {
    return std::make_unique<TreeClient>(config(locking, lease, url));
  }

  std::string tree_index() const { return index_.alias() + "-fs"; }
  support::ElasticsearchServer& server() const { return index_.server(); }

  /// A document as the book's clients write it.
  void write(const std::string& id, const std::string& directory, const std::string& name,
             nlohmann::json more = nlohmann::json::object()) const {
    more["path"] = directory;
    more["name"] = name;
    server().expect("PUT", "/" + tree_index() + "/_doc/" + id, more.dump());
  }
  /// `count` documents in some directories below `top`, with the ids 1 …
  void fill(const std::string& top, int count) const {
    std::string body;
    for (int i = 1; i <= count; ++i) {
      body += "{\"index\":{\"_id\":\"" + std::to_string(i) + "\"}}\n{\"path\":\"" + top +
              (i % 3 == 0 ? "" : "/d" + std::to_string(i % 7)) + "\",\"name\":\"f" + std::to_string(i) +
              "\",\"contents\":\"of " + std::to_string(i) + "\"}\n";
    }
    server().expect("POST", "/" + tree_index() + "/_bulk", body);
  }

  struct Stored {
    nlohmann::json source;
    std::int64_t sequence_number = 0;
    std::int64_t primary_term = 0;
    std::string path;  ///< whole
  };
  /// Everything that is in the index, by id.
  std::map<std::string, Stored> stored() const {
    server().expect("POST", "/" + tree_index() + "/_refresh");
    const nlohmann::json reply =
        server().expect("POST", "/" + tree_index() + "/_search",
                        R"({"size": 10000, "seq_no_primary_term": true, "query": {"match_all": {}}})");
    std::map<std::string, Stored> all;
    for (const nlohmann::json& hit : reply.at("hits").at("hits")) {
      const nlohmann::json& source = hit.at("_source");
      all[hit.at("_id")] = {source, hit.at("_seq_no"), hit.at("_primary_term"),
                            joined_path(source.value("path", ""), source.value("name", ""))};
    }
    return all;
  }
  /// The whole paths of all documents, in order, with repetitions.
  std::multiset<std::string> paths() const {
    std::multiset<std::string> all;
    for (const auto& [id, document] : stored()) all.insert(document.path);
    return all;
  }
  std::int64_t count_below(const std::string& directory) const {
    std::int64_t count = 0;
    for (const std::string& path : paths()) count += path.starts_with(directory + "/") ? 1 : 0;
    return count;
  }

  void expect_nothing_left(TreeClient& client) const {
    for (const LockState& lock : client.locks->locks()) ADD_FAILURE() << "left: " << lock.name.text();
    for (const Operation& operation : client.locks->unresolved()) ADD_FAILURE() << "left: " << operation.id;
    for (const auto& [id, document] : stored())
      EXPECT_FALSE(document.source.value("kind", "").starts_with(kStagedKind)) << id;
  }

  /// Waits until the lease of the operation has expired by the server's clock.
  void wait_for_death_of(TreeClient& client, const std::string& operation) const {
    ASSERT_TRUE(support::wait_until(
        [&] {
          const std::optional<Operation> found = client.locks->find_operation(operation);
          return found && client.locks->now() > found->lease_until + std::chrono::milliseconds(250);
        },
        kPatience));
  }

  support::ElasticsearchIndex index_{"tree"};
};

}  // namespace lockstep
