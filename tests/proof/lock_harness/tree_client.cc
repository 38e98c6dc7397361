#include "tests/proof/lock_harness/tree_client.h"

#include <unistd.h>

#include <iostream>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/error.h"
#include "replicator/locks/backends/elasticsearch/locks.h"
#include "replicator/tree/tree.h"
#include "tests/proof/lock_harness/fateful_transport.h"
#include "tests/proof/lock_harness/naive_tree.h"
#include "tests/proof/lock_harness/tree_world.h"

namespace lockstep::harness {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWait{3'000};

/// The operation whose contents the request stages; empty when it stages none.
std::string staged_by(const HttpRequest& request, const std::string& tree_index) {
  const std::string prefix = "/" + tree_index + "/_create/";
  if (!request.path.starts_with(prefix)) return "";
  return request.path.substr(prefix.size(), request.path.find('?') - prefix.size());
}

class TreeClient {
 public:
  TreeClient(const World& world, std::uint64_t seed)
      : world_(world),
        config_(config_of(world)),
        fate_(seed, {.points_a_death = 250, .points_a_sleep = 250, .longest = config_.locks.lease * 5 / 2}),
        locks_(transport(), lock_indices(config_.locks.index), config_.locks.lease, config_.locks.lease / 3),
        tree_(locks_, transport(), config_.tree, config_.elasticsearch.request_timeout),
        naive_(locks_, transport(), config_.tree.index, world.without) {
    prepare();
  }

  void work() {
    try {
      if (world_.without == Without::kNothing) {
        change();
        if (fate_.one_in(8)) (void)tree_.recover();
      } else {
        const TreePath from(some_directory());
        naive_.move(from, TreePath(some_directory()));
      }
    } catch (const TreeError&) {
      // The path to move does not exist, or the new path does.
    } catch (const TreeOperationLost&) {
    } catch (const LeaseLost&) {
    } catch (const Error& error) {
      if (!error.retryable()) throw;
    }
  }

 private:
  std::unique_ptr<HttpTransport> transport() {
    return std::make_unique<FatefulTransport>(
        make_transport_factory(config_.elasticsearch)(), fate_, [this](const HttpRequest& request) {
          const std::string operation = staged_by(request, config_.tree.index);
          if (!operation.empty()) std::cout << "staged " << operation << ' ' << contents_ << std::endl;
        });
  }

  void prepare() {
    while (true) {
      try {
        tree_.prepare();
        naive_.prepare();
        return;
      } catch (const Error& error) {
        if (!error.retryable()) throw;
      }
    }
  }

  void change() {
    const TreeOptions options{.wait = kWait};
    const std::uint64_t lot = fate_.number() % 100;
    if (lot < 20) {
      contents_ = std::to_string(getpid()) + "/" + std::to_string(++puts_);
      (void)tree_.put(TreePath(some_file()), contents_, options);
    } else if (lot < 28) {
      (void)tree_.remove(TreePath(some_file()), options);
    } else if (lot < 65) {
      (void)tree_.move(TreePath(some_file()), TreePath(some_file()), options);
    } else {
      const TreePath from(some_directory());
      (void)tree_.move(from, TreePath(some_directory()), options);
    }
  }

  std::string some(const std::vector<std::string>& names) { return names[fate_.number() % names.size()]; }
  std::string some_top() { return some(tops()); }
  std::string some_file() {
    return some_top() + some({"/s0", "/s1", "/s2"}) + some({"/f0", "/f1", "/f2", "/f3"});
  }
  std::string some_directory() {
    return fate_.one_in(6) ? some_top() : some_top() + some({"/s0", "/s1", "/s2", "/great"});
  }

  const World world_;
  const Config config_;
  Fate fate_;
  std::string contents_;  ///< of the put under way
  int puts_ = 0;
  ElasticsearchLocks locks_;
  Tree tree_;
  NaiveTree naive_;
};

}  // namespace

void run_tree_client(const World& world, std::uint64_t seed) {
  TreeClient client(world, seed);
  while (true) client.work();
}

}  // namespace lockstep::harness
