// Moving a directory with everything below it, as `lockstep tree mv` does under each scheme, beside a bare
// _update_by_query of the same documents: alternately, there and back.
#include <chrono>
#include <memory>

#include "replicator/locks/open_locks.h"
#include "replicator/tree/tree.h"
#include "tests/bench/support/benchmark.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/servers.h"

namespace lockstep::benchmarks {
namespace {

using nlohmann::json;
using Locking = TreeConfig::Locking;

constexpr std::int64_t kDirectories = 50;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// `count` files in some directories below /a.
void fill(support::ElasticsearchServer& server, const std::string& index, std::int64_t count) {
  constexpr std::int64_t kBatch = 10'000;
  for (std::int64_t begin = 0; begin < count; begin += kBatch) {
    std::string body;
    for (std::int64_t i = begin; i < std::min(begin + kBatch, count); ++i) {
      const std::string number = std::to_string(i);
      body += "{\"index\":{\"_id\":\"" + number + "\"}}\n{\"path\":\"/a/d" +
              std::to_string(i % kDirectories) + "\",\"name\":\"f" + number + "\",\"contents\":\"of " +
              number + "\"}\n";
    }
    server.expect("POST", "/" + index + "/_bulk", body);
  }
  server.expect("POST", "/" + index + "/_refresh");
}

std::int64_t count_below(support::ElasticsearchServer& server, const std::string& index,
                         const std::string& directory) {
  server.expect("POST", "/" + index + "/_refresh");
  return server
      .expect("POST", "/" + index + "/_count",
              json{{"query", {{"prefix", {{"path", directory + "/"}}}}}}.dump())
      .at("count");
}

void move_by_query(support::ElasticsearchServer& server, const std::string& index, const std::string& from,
                   const std::string& to) {
  const json body = {
      {"query", {{"prefix", {{"path", from + "/"}}}}},
      {"script",
       {{"source", "ctx._source.path = params.to + ctx._source.path.substring(params.from.length())"},
        {"params", {{"from", from}, {"to", to}}}}}};
  server.expect("POST", "/" + index + "/_update_by_query?refresh=true", body.dump());
}

void run(const Parameters& parameters, Report& report) {
  const support::ElasticsearchIndex alias("benchmark");
  Config config;
  config.elasticsearch.urls = {support::elasticsearch_url()};
  config.locks.index = alias.alias() + "-locks";
  config.tree.index = alias.alias() + "-fs";
  const std::unique_ptr<LockManager> locks = open_locks(config);
  locks->prepare();
  support::ElasticsearchServer server;
  const std::int64_t files = parameters["files"];
  const auto tree_with = [&](Locking locking) {
    config.tree.locking = locking;
    auto tree = open_tree(config, *locks);
    tree->prepare();
    return tree;
  };
  const auto by_tree = tree_with(Locking::kTree);
  const auto by_global = tree_with(Locking::kGlobal);
  fill(server, config.tree.index, files);

  std::string from = "/a";
  std::string to = "/b";
  const auto measure = [&](const std::string& what, const std::function<void()>& move) {
    report.add(what, "s", seconds_of(move));
    if (count_below(server, config.tree.index, to) != files)
      throw std::runtime_error(what + " has lost files");
    std::swap(from, to);
  };
  const auto move_under = [&](Tree& tree) {
    if (tree.move(TreePath(from), TreePath(to), {})) throw std::runtime_error("somebody else has a lock");
  };
  const std::string bare = "a bare _update_by_query";
  const std::string locked = "lockstep tree mv, locking = \"tree\"";
  move_by_query(server, config.tree.index, from, to);  // the first one warms the server up
  std::swap(from, to);
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    measure(bare, [&] { move_by_query(server, config.tree.index, from, to); });
    measure(locked, [&] { move_under(*by_tree); });
    measure("lockstep tree mv, locking = \"global\"", [&] { move_under(*by_global); });
  }
  report.add("tree mv, of what the bare one takes", "", report.median_of(locked) / report.median_of(bare));
  report.control(bare);
  report.target("tree mv, of what the bare one takes", Report::Bound::kAtMost, 1.5);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"tree_move",
       "Moves a directory of many files under locks, and without.",
       {{"files", 100'000, 2'000, "below the directory"}, {"rounds", 5, 1, "of each, in turns"}},
       lockstep::benchmarks::run},
      argc, argv);
}
