#include "tests/proof/simulation/network.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto kUsually = 4ms;
constexpr auto kSlowly = 2s;

// Most late requests come as early as a sweep expects (kWriteSurvives, leader_parts.cc), the others as late
// as the program expects any (kLandsWithin).
constexpr auto kUsuallyWithin = 20s;
constexpr auto kArrivesWithin = 540s;

}  // namespace

const char* name_of(Weather weather) {
  constexpr const char* kNames[kWeathers] = {"calm",
                                             "slow",
                                             "one index is slow",
                                             "busy",
                                             "busy for some items",
                                             "unavailable",
                                             "cut",
                                             "replies are lost",
                                             "hanging",
                                             "requests arrive twice",
                                             "one index is blocked"};
  return kNames[static_cast<int>(weather)];
}

class Network::Transport final : public HttpTransport {
 public:
  explicit Transport(Network& network) : network_(network) {}

  HttpResponse perform(const HttpRequest& request) override {
    return network_.perform(request, is_cancelled_);
  }
  void cancel() override {
    is_cancelled_ = true;
    network_.fibers_.wake(&is_cancelled_);
  }

 private:
  Network& network_;
  bool is_cancelled_ = false;
};

Network::Network(Fibers& fibers, fake::Elasticsearch& elasticsearch,
                 std::function<void(const std::string&)> note)
    : fibers_(fibers),
      note_(std::move(note)),
      elasticsearch_(elasticsearch),
      direct_(elasticsearch.transports()) {}

std::function<std::unique_ptr<HttpTransport>()> Network::transports() {
  return [this] { return std::make_unique<Transport>(*this); };
}

void Network::change(Weather weather, const std::string& index) {
  weather_ = weather;
  index_ = index;
}

std::chrono::microseconds Network::up_to(std::chrono::microseconds most) {
  return std::chrono::microseconds(fibers_.random() % static_cast<std::uint32_t>(most.count()));
}

void Network::pass(std::chrono::microseconds time, SteadyTime deadline, const bool& is_cancelled, bool sent) {
  const SteadyTime until = fibers_.now() + time;
  while (!is_cancelled && fibers_.now() < std::min(until, deadline))
    fibers_.wait(&is_cancelled, std::min(until, deadline));
  if (is_cancelled) throw TransportError("cancelled", sent);
  if (until > deadline) throw TransportError("no answer in time", sent);
}

HttpResponse Network::perform(const HttpRequest& request, const bool& is_cancelled) {
  if (is_cancelled) throw TransportError("cancelled", false);
  const SteadyTime deadline = fibers_.now() + request.timeout;
  const bool is_bulk = request.path.starts_with("/_bulk");
  const bool is_of_index =
      request.path.starts_with("/" + index_) ||
      (is_bulk && request.body.find("\"_index\":\"" + index_ + "\"") != request.body.npos);
  const Weather weather = weather_;  // of this request, whatever comes meanwhile
  if (weather == Weather::kUnavailable) {
    pass(up_to(kUsually), deadline, is_cancelled, true);
    return {503, R"({"error":{"type":"unavailable","reason":"of the weather"}})"};
  }
  if (weather == Weather::kBusy && one_in(3)) {
    pass(up_to(kUsually), deadline, is_cancelled, true);
    return {429, R"({"error":{"type":"es_rejected_execution_exception","reason":"of the weather"}})"};
  }
  if (weather == Weather::kCut && one_in(5)) {
    pass(up_to(kUsually), deadline, is_cancelled, true);
    throw TransportError("cut off", true);
  }
  if (weather == Weather::kHanging && one_in(10)) {
    arrive_later(request, one_in(4) ? kArrivesWithin : kUsuallyWithin);
    pass(1h, deadline, is_cancelled, true);
  }
  if (weather == Weather::kTwice && one_in(5)) arrive_later(request, 5s);
  const SteadyTime sent = fibers_.now();
  const bool is_slow = weather == Weather::kSlow || (weather == Weather::kSlowIndex && is_of_index);
  pass(up_to(is_slow ? std::chrono::microseconds(kSlowly) : kUsually), deadline, is_cancelled, true);
  const bool is_partial =
      is_bulk && (weather == Weather::kBusyItems || (weather == Weather::kBlocked && is_of_index));
  is_late_ = fibers_.now() - sent > kSlowly;  // its process was stopped
  HttpResponse response = is_partial ? apply_some(request, weather == Weather::kBlocked)
                                     : arrive(request.method, request.path, std::string(request.body));
  is_late_ = false;
  pass(up_to(kUsually), deadline, is_cancelled, true);
  if (weather == Weather::kLost && one_in(5)) throw TransportError("the reply is lost", true);
  return response;
}

HttpResponse Network::arrive(const std::string& method, const std::string& path, const std::string& body) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  return direct_()->perform(request);
}

// A request is of one index. One that names it by the searchers' alias, and comes when that has moved, would
// be for another one: README.md, "What is left out".
int Network::index_of(std::string_view bulk) {
  const json action = json::parse(bulk.substr(0, bulk.find('\n')));
  return elasticsearch_.uuid_of(action.begin()->at("_index"));
}

void Network::arrive_later(const HttpRequest& request, std::chrono::milliseconds within) {
  if (!request.path.starts_with("/_bulk")) return;
  ++late_;
  fibers_.start(0, [this, method = request.method, path = request.path, body = std::string(request.body),
                    index = index_of(request.body), time = up_to(within)] {
    fibers_.sleep(time);
    const bool finds_its_index = index_of(body) == index;
    note_(finds_its_index ? "a late request arrives" : "a late request is too late for its index");
    is_late_ = true;
    if (finds_its_index) arrive(method, path, body);
    is_late_ = false;
    --late_;
  });
}

// The documents of a third of the items are too much for the server, or all of the index that is blocked.
// What tells whether an index takes writes is an item, too.
HttpResponse Network::apply_some(const HttpRequest& request, bool is_blocked) {
  std::istringstream lines{std::string(request.body)};
  std::string rest;
  std::vector<json> turned_down;  // null: it is among the rest
  for (std::string line; std::getline(lines, line);) {
    const json action = json::parse(line);
    const std::string verb = action.begin().key();
    std::string document;
    if (verb == "index") std::getline(lines, document);
    const bool goes = is_blocked ? action.begin()->at("_index") != index_ : !one_in(3);
    if (goes) {
      rest += line + "\n" + (verb == "index" ? document + "\n" : "");
      turned_down.emplace_back();
      continue;
    }
    const json error = {{"type", is_blocked ? "cluster_block_exception" : "es_rejected_execution_exception"},
                        {"reason", "of the weather"}};
    turned_down.push_back(
        {{verb, {{"_id", action.begin()->at("_id")}, {"status", is_blocked ? 403 : 429}, {"error", error}}}});
  }
  json items = json::array();
  if (!rest.empty()) items = json::parse(arrive(request.method, request.path, rest).body).at("items");
  json all = json::array();
  std::size_t next = 0;
  for (json& item : turned_down) all.push_back(item.is_null() ? items.at(next++) : std::move(item));
  return {200, json{{"errors", true}, {"items", all}}.dump()};
}

}  // namespace lockstep::simulation
