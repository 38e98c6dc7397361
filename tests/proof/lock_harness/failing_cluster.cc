#include "tests/proof/lock_harness/failing_cluster.h"

#include <chrono>
#include <future>
#include <random>
#include <stdexcept>

#include "replicator/pause.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/eventually.h"
#include "tests/support/http_stream.h"
#include "tests/support/listening_socket.h"

namespace lockstep::harness {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using support::PrivateEngine;

constexpr std::chrono::minutes kPatience{5};

std::string name_of(std::size_t node) {
  return "node" + std::to_string(node);
}

/// Ports that nobody listens on.
std::vector<int> free_ports(std::size_t count) {
  std::vector<support::ListeningSocket> sockets(count);
  std::vector<int> ports;
  for (const support::ListeningSocket& socket : sockets) ports.push_back(socket.port());
  return ports;
}

}  // namespace

FailingCluster::FailingCluster(const std::string& engine, std::size_t nodes) {
  std::string hosts;
  std::string names;
  const std::vector<int> ports = free_ports(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    hosts += (i == 0 ? "" : ",") + std::string("127.0.0.1:") + std::to_string(ports[i]);
    names += (i == 0 ? "" : ",") + name_of(i);
  }
  // None answers before two are up and elect a master.
  std::vector<std::future<std::unique_ptr<PrivateEngine>>> starting;
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::string name = name_of(i);
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
  failing_ = std::jthread([this, seed](const std::stop_token& stop) {
    try {
      fail(stop, seed);
    } catch (...) {
      failure_ = std::current_exception();
    }
  });
}

void FailingCluster::fail(const std::stop_token& stop, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  steady_clock::duration away{0};
  while (pause(rest(away) + milliseconds(3'000 + random() % 6'000), stop)) {
    const std::optional<std::size_t> leading = master();
    const std::size_t victim = random() % 2 == 0 && leading ? *leading : random() % nodes_.size();
    const steady_clock::time_point killed_at = steady_clock::now();
    nodes_[victim]->crash();
    away = steady_clock::now() - killed_at;
    ++killed_.nodes;
    if (victim == leading) ++killed_.masters;
  }
}

milliseconds FailingCluster::rest(steady_clock::duration away) const {
  return nodes_.size() == 1 ? std::chrono::ceil<milliseconds>(away) : milliseconds(0);
}

/// None while the nodes elect one.
std::optional<std::size_t> FailingCluster::master() const {
  try {
    const auto reply = support::ElasticsearchServer().request("GET", "/_cat/master?h=node");
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (reply.body.starts_with(name_of(node))) return node;
    }
  } catch (const support::HttpStreamError&) {
    // Busy with its own start.
  }
  return std::nullopt;
}

FailingCluster::Killed FailingCluster::recover() {
  failing_.request_stop();
  failing_.join();
  if (failure_) std::rethrow_exception(failure_);
  support::ElasticsearchServer server;
  const bool whole = support::wait_until(
      [&] {
        return server
                   .request("GET", "/_cluster/health?wait_for_status=green&wait_for_nodes=" +
                                       std::to_string(nodes_.size()) + "&timeout=10s")
                   .status == 200;
      },
      kPatience);
  if (!whole) throw std::runtime_error("the cluster has not become whole again");
  return killed_;
}

}  // namespace lockstep::harness
