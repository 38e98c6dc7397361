// Between the program and Elasticsearch in memory: requests take time, and meet what networks and clusters do
// to them. What has been sent may arrive though its sender has given up, or is dead.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "replicator/elasticsearch/transport/http_transport.h"
#include "tests/proof/simulation/fibers.h"
#include "tests/proof/simulation/schedule.h"
#include "tests/unit/pipeline/fake_elasticsearch.h"

namespace lockstep::simulation {

/// The user whose posts Elasticsearch refuses, until the load is over.
inline constexpr const char* kRefusedUser = "bad";

/// What happens to requests for a while.
enum class Weather : std::uint8_t {
  kCalm,
  kSlow,         ///< answers take up to two seconds
  kSlowIndex,    ///< writes of one index take nearly as long as a request may
  kBusy,         ///< a third of the requests is turned down (429)
  kBusyItems,    ///< a third of the items is, or those of a third of the documents
  kUnavailable,  ///< all requests are turned down (503)
  kCut,          ///< a fifth never arrives
  kLost,         ///< a fifth has its reply lost, or a gateway answers in its place (5xx)
  kHanging,      ///< some are not answered in time, or by a gateway (5xx), and arrive later
  kTwice,        ///< a fifth arrives again some seconds later
  kBlocked,      ///< one index takes no writes, in one of several ways
  kWhole,        ///< a bulk request that is large, or has a document to refuse, is refused as a whole
  kMisfits,      ///< a third of the replies to larger bulk requests does not fit them
};
inline constexpr int kWeathers = 13;
const char* name_of(Weather weather);

/// What a process may be doing when it dies or stops.
enum class Moment : std::uint8_t {
  kAny,
  kSent,
  kTurnedDown,
  kPromised,  ///< a wait is over while an alias is about to move; of the process of no program (0)
};

class Network {
 public:
  struct Habits {
    std::chrono::milliseconds slow_index{2'000};
    std::uint32_t one_hangs_in = 10;
    /// Most late requests arrive within twenty seconds, unless all may take as long, and all within this.
    bool all_take_long = false;
    std::chrono::milliseconds arrives_within{20'000};
    std::uint32_t blocked_as = 0;       ///< what an index says that takes no writes
    bool one_shard_is_busy = false;     ///< the items that are turned down are those of some documents
    std::size_t largest_whole = 1'000;  ///< bytes of a bulk request that is not refused as a whole
    /// What was sent to an alias that has moved since is lost (README.md, "Limits").
    bool loses_what_the_alias_left = false;
  };
  using Listener = std::function<void(const Event&, const std::string&)>;

  /// All of it must outlive this. `begins` hears of each fault, in words.
  Network(Fibers& fibers, Schedule& schedule, fake::Elasticsearch& elasticsearch, Habits habits,
          Listener begins);

  /// As the one argument of what makes a leader.
  std::function<std::unique_ptr<HttpTransport>()> transports();

  /// `index`: of the weather that concerns one.
  void change(Weather weather, const std::string& index);
  Weather weather() const { return weather_; }
  /// Whether it has been calm since then.
  bool is_calm_since(SteadyTime time) const { return weather_ == Weather::kCalm && since_ <= time; }
  /// Whether it concerns the index.
  bool is_bad_for(const std::string& index) const;

  /// Waits until that happens in the process, for a while at most.
  void await(Moment moment, ProcessNumber process);
  void happens(Moment moment, ProcessNumber process);

  /// What the process has on the wire may arrive all the same.
  void died(ProcessNumber process);

  /// The process has seen what stands behind this alias; none: not since forget_looks(), or its begin.
  std::optional<SteadyTime> first_look(ProcessNumber process, const std::string& alias) const;
  void forget_looks() { looks_.clear(); }

  /// Whether what Elasticsearch does now comes of a request that its sender has given up.
  bool is_late() const { return is_late_; }

  /// How many such requests are still to come.
  int late() const { return late_; }

  /// No request is on its way.
  bool is_quiet() const { return late_ == 0 && on_wire_.empty(); }

 private:
  class Transport;

  /// A bulk request that has not arrived.
  struct OnWire {
    ProcessNumber process = 0;
    std::string method;
    std::string path;
    std::string body;
    int index = 0;  ///< which one it was sent to
  };

  HttpResponse perform(const HttpRequest& request, const bool& is_cancelled);
  HttpResponse send(const HttpRequest& request, const bool& is_cancelled, std::uint64_t number);
  /// Which index its first operation names now; 0: none.
  int index_of(const std::string& body) const;
  bool finds_its_index(const OnWire& request) const;
  /// Waits as long as the other side takes. Throws when the sender gives up.
  void pass(std::chrono::microseconds time, SteadyTime deadline, const bool& is_cancelled);
  HttpResponse arrive(const std::string& method, const std::string& path, const std::string& body,
                      bool is_late);
  void arrive_later(OnWire request, std::chrono::microseconds time);
  void land(OnWire request);
  std::chrono::microseconds lateness(Lot& lot) const;
  HttpResponse apply_some(const HttpRequest& request, Lot& lot, bool is_blocked, bool is_late);
  bool goes(const std::string& id, Lot& lot) const;
  bool is_of_index(const HttpRequest& request) const;
  void turn_down();

  Fibers& fibers_;
  Schedule& schedule_;
  const Habits habits_;
  const Listener begins_;
  const fake::Elasticsearch& elasticsearch_;
  const std::function<std::unique_ptr<HttpTransport>()> direct_;
  Lot lot_;
  Weather weather_ = Weather::kCalm;
  SteadyTime since_{};
  std::string index_;
  std::map<std::uint64_t, OnWire> on_wire_;
  std::uint64_t requests_ = 0;
  std::map<std::pair<Moment, ProcessNumber>, int> moments_;
  std::map<std::pair<ProcessNumber, std::string>, SteadyTime> looks_;  // by path, the first
  bool is_late_ = false;
  int late_ = 0;
};

}  // namespace lockstep::simulation
