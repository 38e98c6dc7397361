#include "tests/proof/lock_harness/failing_cluster.h"

#include <chrono>
#include <future>
#include <random>
#include <stdexcept>

#include "replicator/pause.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/eventually.h"
#include "tests/support/listening_socket.h"

namespace lockstep::harness {
namespace {

using std::chrono::milliseconds;
using support::PrivateEngine;

constexpr int kNodes = 3;
constexpr std::chrono::minutes kPatience{5};

/// Ports that nobody listens on.
std::vector<int> free_ports() {
  std::vector<support::ListeningSocket> sockets(kNodes);
  std::vector<int> ports;
  for (const support::ListeningSocket& socket : sockets) ports.push_back(socket.port());
  return ports;
}

}  // namespace

FailingCluster::FailingCluster(const std::string& engine) {
  std::string hosts;
  std::string names;
  const std::vector<int> ports = free_ports();
  for (int i = 0; i < kNodes; ++i) {
    hosts += (i == 0 ? "" : ",") + std::string("127.0.0.1:") + std::to_string(ports[i]);
    names += (i == 0 ? "node" : ",node") + std::to_string(i);
  }
  // None answers before two are up and elect a master.
  std::vector<std::future<std::unique_ptr<PrivateEngine>>> starting;
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "node" + std::to_string(i);
    const std::vector<std::string> settings = {"--heap",
                                               "512m",
                                               "--timeout",
                                               "230",
                                               "-Enode.name=" + name,
                                               "-Etransport.port=" + std::to_string(ports[i]),
                                               "-Ediscovery.seed_hosts=" + hosts,
                                               "-Ecluster.initial_master_nodes=" + names};
    starting.push_back(std::async(std::launch::async, [this, engine, name, settings] {
      return std::make_unique<PrivateEngine>(engine, folder_.path() / name, settings);
    }));
  }
  for (auto& node : starting) nodes_.push_back(node.get());
}

std::vector<std::string> FailingCluster::urls() const {
  std::vector<std::string> urls;
  for (const auto& node : nodes_) urls.push_back(node->url());
  return urls;
}

void FailingCluster::begin_to_fail(std::uint64_t seed) {
  failing_ = std::jthread([this, seed](const std::stop_token& stop) { fail(stop, seed); });
}

void FailingCluster::fail(const std::stop_token& stop, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (pause(milliseconds(3'000 + random() % 6'000), stop)) {
    nodes_[random() % nodes_.size()]->crash();
    ++killed_;
  }
}

int FailingCluster::recover() {
  failing_.request_stop();
  failing_.join();
  support::ElasticsearchServer server;
  const bool whole = support::wait_until(
      [&] {
        return server.request("GET", "/_cluster/health?wait_for_status=green&wait_for_nodes=3&timeout=10s")
                   .status == 200;
      },
      kPatience);
  if (!whole) throw std::runtime_error("the cluster has not become whole again");
  return killed_;
}

}  // namespace lockstep::harness
