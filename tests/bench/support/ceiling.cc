#include "tests/bench/support/ceiling.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "tests/support/http_stream.h"
#include "tests/support/servers.h"

namespace lockstep::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;
using support::HttpMessage;
using support::HttpStream;

constexpr std::size_t kMebibyte = 1 << 20;
constexpr BulkShape kShapes[] = {{kMebibyte / 2, 2}, {kMebibyte, 1},     {kMebibyte, 2},
                                 {kMebibyte, 3},     {2 * kMebibyte, 2}, {5 * kMebibyte, 2}};

}  // namespace

std::string text(BulkShape shape) {
  return "bulks of " + std::to_string(shape.bytes / 1024) + " KiB, " + std::to_string(shape.in_flight) +
         " in flight";
}

Ceiling::Ceiling(std::string mapping, std::vector<ReadyDocument> documents)
    : mapping_(std::move(mapping)), documents_(std::move(documents)), index_("ceiling") {}

BulkShape Ceiling::find_best(Report& report) {
  fill(kShapes[0]);  // a cold server is slower than a warm one
  BulkShape best;
  double most = 0;
  for (const BulkShape shape : kShapes) {
    const double rate = fill(shape);
    report.add("ceiling, " + text(shape), "documents/s", rate);
    report.control("ceiling, " + text(shape));
    if (rate <= most) continue;
    most = rate;
    best = shape;
  }
  return best;
}

double Ceiling::fill(BulkShape shape) {
  if (!name_.empty()) index_.server().expect("DELETE", "/" + name_);
  name_ = index_.alias() + "-" + std::to_string(++fills_);
  index_.server().expect("PUT", "/" + name_, mapping_);
  index_.server().expect("PUT", "/" + name_ + "/_alias/" + index_.alias());
  const std::vector<std::string> ready = bodies(documents_, shape);
  let_merges_end();
  return static_cast<double>(documents_.size()) / send(ready, shape.in_flight);
}

double Ceiling::overwrite(const std::vector<ReadyDocument>& documents, BulkShape shape) {
  return send(bodies(documents, shape), shape.in_flight);
}

// Versions as lockstep has them, since Elasticsearch looks them up.
std::vector<std::string> Ceiling::bodies(const std::vector<ReadyDocument>& documents, BulkShape shape) {
  const std::string version = std::to_string(++version_);
  std::vector<std::string> all(1);
  for (const ReadyDocument& document : documents) {
    if (all.back().size() >= shape.bytes) all.emplace_back();
    all.back() += R"({"index":{"_id":")" + document.id + R"(","version":)" + version +
                  R"(,"version_type":"external_gte"}})" + "\n" + document.json + "\n";
  }
  return all;
}

double Ceiling::send(const std::vector<std::string>& bodies, int in_flight) {
  const support::HostAndPort server = support::host_and_port(support::elasticsearch_url());
  const std::string start_line = "POST /" + name_ + "/_bulk?filter_path=errors,items.*.error HTTP/1.1";
  std::atomic<std::size_t> next = 0;
  const auto send_some = [&] {
    HttpStream stream(HttpStream::connect(server));
    for (std::size_t i = next++; i < bodies.size(); i = next++) {
      stream.write_request(
          {start_line, {{"host", server.host}, {"content-type", "application/x-ndjson"}}, bodies[i]});
      const HttpMessage reply = stream.read_response("POST");
      if (reply.body != R"({"errors":false})")
        throw std::runtime_error("bulk: " + reply.body.substr(0, 1000));
    }
  };
  const auto begin = Clock::now();
  std::vector<std::future<void>> senders;
  for (int i = 0; i < in_flight; ++i) senders.push_back(std::async(std::launch::async, send_some));
  for (std::future<void>& sender : senders) sender.get();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace lockstep::benchmarks
