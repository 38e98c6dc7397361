#include "tests/proof/simulation/network.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/proof/simulation/memory.h"

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds kUsually = 4ms;
constexpr microseconds kSlowly = 2s;

// Most late requests come as early as a sweep expects (kWriteSurvives, leader_parts.cc), the others as late
// as the program expects any (kLandsWithin).
constexpr microseconds kUsuallyWithin = 20s;

constexpr auto kAwaited = 2s;
constexpr auto kAwaitedPromise = 10s;

// A gateway waits so long for its server, at most.
constexpr microseconds kGatewayWaits = 2s;

bool is_bulk(const std::string& path) {
  return path.starts_with("/_bulk");
}

std::string seconds(microseconds time) {
  return std::to_string(duration_cast<milliseconds>(time).count()) + " ms";
}

/// What an index says that takes no writes.
struct Refusal {
  int status = 403;
  const char* type = "cluster_block_exception";
};
constexpr Refusal kRefusals[] = {{},
                                 {400, "index_closed_exception"},
                                 {503, "unavailable_shards_exception"},
                                 {404, "index_not_found_exception"}};

/// What a gateway answers that has had no reply, or one that it cannot pass on.
HttpResponse of_gateway(Lot& lot) {
  return {502 + static_cast<int>(lot.below(3)), "<html>of the weather</html>"};
}

std::string id_of(const json& item) {
  return item.begin()->at("_id");
}

/// A reply that does not fit its bulk request: each item is in the place of another one, one is missing, one
/// is there twice, or the text is cut. None: the request has one document. That would be a dead letter when
/// it has met this for two seconds.
std::optional<HttpResponse> misfit(HttpResponse reply, Lot& lot) {
  json all = json::parse(reply.body);
  json& items = all.at("items");
  if (items.size() < 3) return std::nullopt;  // a deletion comes with a guard
  std::uint32_t kind = lot.one_in(2) ? 0 : 1 + lot.below(3);
  if (kind == 0 && id_of(items.front()) == id_of(items.back())) kind = 1;
  if (kind == 0) std::rotate(items.begin(), items.begin() + 1, items.end());
  if (kind == 1) items.erase(lot.below(static_cast<std::uint32_t>(items.size())));
  if (kind == 2) items.push_back(json(items.back()));
  reply.body = all.dump();
  if (kind == 3) reply.body.resize(reply.body.size() / 2);
  return reply;
}

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
                                             "one index is blocked",
                                             "requests are refused as a whole",
                                             "replies do not fit"};
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

Network::Network(Fibers& fibers, Schedule& schedule, fake::Elasticsearch& elasticsearch, Habits habits,
                 Listener begins)
    : fibers_(fibers),
      schedule_(schedule),
      habits_(habits),
      begins_(std::move(begins)),
      elasticsearch_(elasticsearch),
      direct_(elasticsearch.transports()),
      lot_(schedule.lot("network")) {}

std::function<std::unique_ptr<HttpTransport>()> Network::transports() {
  return [this] { return std::make_unique<Transport>(*this); };
}

void Network::change(Weather weather, const std::string& index) {
  weather_ = weather;
  since_ = fibers_.now();
  index_ = index;
}

bool Network::is_bad_for(const std::string& index) const {
  switch (weather_) {
    case Weather::kCalm:
    case Weather::kTwice:
      return false;
    case Weather::kSlowIndex:
    case Weather::kBlocked:
      return index_.starts_with(index);  // or one of its generations is
    default:
      return true;
  }
}

bool Network::is_of_index(const HttpRequest& request) const {
  if (!is_bulk(request.path)) return request.path.starts_with("/" + index_);
  return request.body.find("\"_index\":\"" + index_ + "\"") != request.body.npos;
}

void Network::await(Moment moment, ProcessNumber process) {
  const SteadyTime end = fibers_.now() + (moment == Moment::kPromised ? kAwaitedPromise : kAwaited);
  int& times = moments_[{moment, process}];
  const int before = times;
  while (moment != Moment::kAny && times == before && fibers_.now() < end) fibers_.wait(this, end);
}

void Network::happens(Moment moment, ProcessNumber process) {
  ++moments_[{moment, process}];
  fibers_.wake(this);
}

// A request is of one index.
int Network::index_of(const std::string& body) const {
  const json action = json::parse(body.substr(0, body.find('\n')));
  return elasticsearch_.uuid_of(action.begin()->at("_index"));
}

bool Network::finds_its_index(const OnWire& request) const {
  return !habits_.loses_what_the_alias_left || index_of(request.body) == request.index;
}

void Network::turn_down() {
  happens(Moment::kTurnedDown, fibers_.process());
}

std::optional<SteadyTime> Network::first_look(ProcessNumber process, const std::string& alias) const {
  const auto found = looks_.find({process, alias});
  return found == looks_.end() ? std::nullopt : std::optional(found->second);
}

void Network::died(ProcessNumber process) {
  std::erase_if(looks_, [&](const auto& look) { return look.first.first == process; });
  for (auto each = on_wire_.begin(); each != on_wire_.end();) {
    if (each->second.process != process) {
      ++each;
      continue;
    }
    land(std::move(each->second));
    each = on_wire_.erase(each);
  }
}

void Network::pass(microseconds time, SteadyTime deadline, const bool& is_cancelled) {
  const SteadyTime until = fibers_.now() + time;
  while (!is_cancelled && fibers_.now() < std::min(until, deadline))
    fibers_.wait(&is_cancelled, std::min(until, deadline));
  if (is_cancelled) throw TransportError("cancelled", true);
  if (until > deadline) throw TransportError("no answer in time", true);
}

HttpResponse Network::perform(const HttpRequest& request, const bool& is_cancelled) {
  if (is_cancelled) throw TransportError("cancelled", false);
  const std::uint64_t number = ++requests_;
  if (is_bulk(request.path)) {
    const std::string body(request.body);
    on_wire_[number] = {fibers_.process(), request.method, request.path, body, index_of(body)};
    happens(Moment::kSent, fibers_.process());
  }
  try {
    HttpResponse response = send(request, is_cancelled, number);
    on_wire_.erase(number);  // it was turned down
    if (request.method == "GET")
      looks_.try_emplace({fibers_.process(), request.path.substr(1, request.path.find('?') - 1)},
                         fibers_.now());
    return response;
  } catch (const TransportError&) {
    if (const auto left = on_wire_.extract(number); !left.empty() && is_cancelled)
      land(std::move(left.mapped()));
    turn_down();
    throw;
  }
}

HttpResponse Network::send(const HttpRequest& request, const bool& is_cancelled, std::uint64_t number) {
  const SteadyTime deadline = fibers_.now() + request.timeout;
  Event fault = weather_ == Weather::kCalm ? Event{"", lot_, false} : schedule_.next("network");
  const Weather weather = fault.happens ? weather_ : Weather::kCalm;  // whatever comes meanwhile
  const auto begins = [&](const std::string& what) {
    begins_(fault, "request " + std::to_string(number) + " " + what + ": " + request.method + " " +
                       request.path.substr(0, request.path.find('?')));
  };
  const auto answer = [&](int status, const std::string& type) -> HttpResponse {
    begins("is answered " + std::to_string(status));
    pass(lot_.up_to(kUsually), deadline, is_cancelled);
    turn_down();
    return {status, R"({"error":{"type":")" + type + R"(","reason":"of the weather"}})"};
  };
  microseconds time = lot_.up_to(kUsually);
  bool is_of_one = false;
  switch (weather) {
    case Weather::kUnavailable:
      return answer(503, "unavailable");
    case Weather::kBusy:
      if (fault.lot.one_in(3)) return answer(429, "es_rejected_execution_exception");
      break;
    case Weather::kCut:
      if (!fault.lot.one_in(5)) break;
      begins("is cut off");
      pass(time, deadline, is_cancelled);
      throw TransportError("cut off", true);
    case Weather::kHanging:
      if (!fault.lot.one_in(habits_.one_hangs_in)) break;
      if (const auto left = on_wire_.extract(number); !left.empty()) {
        time = lateness(fault.lot);
        const bool has_gateway = fault.lot.one_in(3);
        begins(std::string(has_gateway ? "is answered by a gateway" : "hangs") + ", and arrives in " +
               seconds(time));
        arrive_later(std::move(left.mapped()), time);
        if (has_gateway) {
          pass(fault.lot.up_to(kGatewayWaits), deadline, is_cancelled);
          turn_down();
          return of_gateway(fault.lot);
        }
      } else {
        begins("hangs");
      }
      pass(1h, deadline, is_cancelled);
      break;
    case Weather::kTwice:
      if (!is_bulk(request.path) || !fault.lot.one_in(5)) break;
      begins("arrives twice");
      arrive_later(on_wire_.at(number), fault.lot.up_to(5s));
      break;
    case Weather::kSlow:
      time = fault.lot.up_to(kSlowly);
      begins("takes " + seconds(time));
      break;
    case Weather::kSlowIndex:
      if (!is_bulk(request.path) || !is_of_index(request)) break;
      time = fault.lot.up_to(habits_.slow_index);
      begins("takes " + seconds(time));
      break;
    case Weather::kWhole:
      if (!is_bulk(request.path)) break;
      if (request.body.size() > habits_.largest_whole) return answer(413, "content_too_large");
      if (request.body.find(std::string("\"") + kRefusedUser + "\"") != request.body.npos)
        return answer(400, "mapper_parsing_exception");
      break;
    case Weather::kMisfits:
      is_of_one = is_bulk(request.path);
      if (is_of_one) begins("is too much in part");
      break;
    case Weather::kBlocked:
    case Weather::kBusyItems:
      is_of_one = is_bulk(request.path) && (weather == Weather::kBusyItems || is_of_index(request));
      if (is_of_one) begins(weather == Weather::kBlocked ? "meets a block" : "is too much in part");
      break;
    default:
      break;
  }
  pass(time, deadline, is_cancelled);
  if (const auto sent = on_wire_.extract(number); !sent.empty() && !finds_its_index(sent.mapped()))
    throw TransportError("lost", true);
  const bool is_late = fibers_.now() > deadline + 1s;  // its process was stopped meanwhile
  HttpResponse response = is_of_one
                              ? apply_some(request, fault.lot, weather == Weather::kBlocked, is_late)
                              : arrive(request.method, request.path, std::string(request.body), is_late);
  if (is_of_one) turn_down();
  pass(lot_.up_to(kUsually), deadline, is_cancelled);
  if (weather == Weather::kLost && fault.lot.one_in(5)) {
    const bool has_gateway = fault.lot.one_in(2);
    begins(has_gateway ? "is answered by a gateway, and was done" : "has its reply lost");
    if (!has_gateway) throw TransportError("the reply is lost", true);
    turn_down();
    return of_gateway(fault.lot);
  }
  if (weather != Weather::kMisfits || !is_bulk(request.path) || !fault.lot.one_in(3)) return response;
  std::optional<HttpResponse> spoiled = misfit(response, fault.lot);
  if (!spoiled) return response;
  begins("gets a reply that does not fit");
  turn_down();
  return *std::move(spoiled);
}

HttpResponse Network::arrive(const std::string& method, const std::string& path, const std::string& body,
                             bool is_late) {
  const AllocatesFor world(0);
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  is_late_ = is_late;
  HttpResponse response = direct_()->perform(request);
  is_late_ = false;
  return response;
}

void Network::arrive_later(OnWire request, microseconds time) {
  ++late_;
  fibers_.start(0, [this, request = std::move(request), time] {
    fibers_.sleep(time);
    if (finds_its_index(request)) arrive(request.method, request.path, request.body, true);
    --late_;
  });
}

microseconds Network::lateness(Lot& lot) const {
  const bool takes_long = lot.one_in(4) || habits_.all_take_long;
  return lot.up_to(takes_long ? microseconds(habits_.arrives_within) : kUsuallyWithin);
}

// Its sender does not wait for it any more.
void Network::land(OnWire request) {
  Event landing = schedule_.next("landing");
  const microseconds time = lateness(landing.lot);
  if (!landing.happens || landing.lot.one_in(2)) return;
  begins_(landing,
          "what process " + std::to_string(request.process) + " has sent arrives in " + seconds(time));
  arrive_later(std::move(request), time);
}

// Of a third of the items, or of the documents of a shard.
bool Network::goes(const std::string& id, Lot& lot) const {
  return habits_.one_shard_is_busy ? std::hash<std::string>()(id) % 3 != 0 : !lot.one_in(3);
}

// The documents of a third of the items are too much for the server, or all of the index that is blocked.
// What tells whether an index takes writes is an item, too.
HttpResponse Network::apply_some(const HttpRequest& request, Lot& lot, bool is_blocked, bool is_late) {
  const Refusal block = kRefusals[habits_.blocked_as % std::size(kRefusals)];
  std::istringstream lines{std::string(request.body)};
  std::string rest;
  std::vector<json> turned_down;  // null: it is among the rest
  for (std::string line; std::getline(lines, line);) {
    const json action = json::parse(line);
    const std::string verb = action.begin().key();
    std::string document;
    if (verb == "index") std::getline(lines, document);
    const bool is_taken = is_blocked ? action.begin()->at("_index") != index_
                                     : goes(action.begin()->at("_id").get<std::string>(), lot);
    if (is_taken) {
      rest += line + "\n" + (verb == "index" ? document + "\n" : "");
      turned_down.emplace_back();
      continue;
    }
    const json error = {{"type", is_blocked ? block.type : "es_rejected_execution_exception"},
                        {"reason", "of the weather"}};
    const json item = {
        {"_id", action.begin()->at("_id")}, {"status", is_blocked ? block.status : 429}, {"error", error}};
    turned_down.push_back({{verb, item}});
  }
  json items = json::array();
  if (!rest.empty())
    items = json::parse(arrive(request.method, request.path, rest, is_late).body).at("items");
  json all = json::array();
  std::size_t next = 0;
  for (json& item : turned_down) all.push_back(item.is_null() ? items.at(next++) : std::move(item));
  return {200, json{{"errors", true}, {"items", all}}.dump()};
}

}  // namespace lockstep::simulation
