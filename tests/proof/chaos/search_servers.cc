#include "tests/proof/chaos/search_servers.h"

#include <chrono>
#include <future>
#include <stdexcept>

#include "tests/support/eventually.h"
#include "tests/support/http_stream.h"
#include "tests/support/listening_socket.h"

namespace lockstep::chaos {
namespace {

using support::HttpMessage;
using support::HttpStream;
using support::PrivateEngine;

constexpr std::chrono::minutes kPatienceForCopies{3};

std::string joined(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ",") + item;
  return list;
}

std::string node_name(int node) {
  return "node-" + std::to_string(node);
}

// Each node's own settings: its name, and how it finds the others.
std::vector<std::vector<std::string>> options_of_cluster(int nodes) {
  std::vector<support::ListeningSocket> sockets(
      static_cast<std::size_t>(nodes));  // free until they are bound again
  std::vector<std::string> names;
  std::vector<std::string> seeds;
  for (int node = 0; node < nodes; ++node) {
    names.push_back(node_name(node));
    seeds.push_back("127.0.0.1:" + std::to_string(sockets[static_cast<std::size_t>(node)].port()));
  }
  std::vector<std::vector<std::string>> options;
  for (int node = 0; node < nodes; ++node) {
    options.push_back({"-Enode.name=" + node_name(node),
                       "-Etransport.port=" + std::to_string(sockets[static_cast<std::size_t>(node)].port()),
                       "-Ediscovery.seed_hosts=" + joined(seeds),
                       "-Ecluster.initial_master_nodes=" + joined(names), "--heap", "512m"});
  }
  return options;
}

// Asks one node, which may be away.
std::string ask(const std::string& url, const std::string& path) {
  HttpStream stream(HttpStream::connect(support::host_and_port(url)));
  HttpMessage request;
  request.start_line = "GET " + path + " HTTP/1.1";
  request.headers = {{"Host", "localhost"}};
  stream.write_request(request);
  const HttpMessage response = stream.read_response("GET");
  if (response.status() != 200) throw std::runtime_error(path + ": " + response.body);
  return response.body;
}

}  // namespace

SearchServers::SearchServers(const std::string& name, const std::filesystem::path& folder, int nodes) {
  if (nodes == 1) {
    nodes_.push_back(std::make_unique<PrivateEngine>(name, folder / "engine"));
  } else {
    // A node answers when a master is elected, and that needs the others.
    std::vector<std::future<std::unique_ptr<PrivateEngine>>> starting;
    int node = 0;
    for (const std::vector<std::string>& options : options_of_cluster(nodes)) {
      starting.push_back(std::async(std::launch::async, [&name, &folder, options, node] {
        return std::make_unique<PrivateEngine>(name, folder / ("engine-" + std::to_string(node)), options);
      }));
      ++node;
    }
    for (auto& started : starting) nodes_.push_back(started.get());
  }
  entrance_ = std::make_unique<support::TcpProxy>(support::host_and_port(nodes_.front()->url()));
  url_ = "http://127.0.0.1:" + std::to_string(entrance_->port());
}

void SearchServers::lead_away_from(int node) {
  if (node != led_to_ || nodes() == 1) return;
  led_to_ = (node + 1) % nodes();
  entrance_->lead_to(support::host_and_port(nodes_.at(static_cast<std::size_t>(led_to_))->url()));
  entrance_->cut();
}

void SearchServers::crash(int node) {
  lead_away_from(node);
  nodes_.at(static_cast<std::size_t>(node))->crash();
  if (nodes() > 1) await_green();
}

void SearchServers::freeze(int node) {
  nodes_.at(static_cast<std::size_t>(node))->freeze();
  lead_away_from(node);
}

void SearchServers::thaw(int node) {
  nodes_.at(static_cast<std::size_t>(node))->thaw();
  if (nodes() > 1) await_green();
}

int SearchServers::master() {
  if (nodes() == 1) return 0;
  const std::string name = ask(nodes_.at(static_cast<std::size_t>(led_to_))->url(), "/_cat/master?h=node");
  for (int node = 0; node < nodes(); ++node) {
    if (name.starts_with(node_name(node))) return node;
  }
  throw std::runtime_error("no master among " + std::to_string(nodes()) + " nodes: " + name);
}

void SearchServers::replicate(const std::string& alias) {
  support::ElasticsearchServer().expect("PUT", "/" + alias + "/_settings",
                                        R"({"index.number_of_replicas": 1})");
  await_green();
}

// Or a second crash could take the only copy of what was acknowledged.
void SearchServers::await_green() {
  const auto is_green = [&] {
    try {
      return ask(nodes_.at(static_cast<std::size_t>(led_to_))->url(), "/_cat/health?h=status")
          .starts_with("green");
    } catch (const std::exception&) {
      return false;  // it has no master, or is away
    }
  };
  if (!support::wait_until(is_green, kPatienceForCopies))
    throw std::runtime_error("the cluster is not green again");
}

}  // namespace lockstep::chaos
