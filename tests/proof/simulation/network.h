// Between the program and Elasticsearch in memory: requests take time, and meet what networks and clusters do
// to them. What has been sent may arrive though its sender has given up, or is dead.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/transport/http_transport.h"
#include "tests/proof/simulation/fibers.h"
#include "tests/unit/pipeline/fake_elasticsearch.h"

namespace lockstep::simulation {

/// What happens to requests for a while.
enum class Weather : std::uint8_t {
  kCalm,
  kSlow,         ///< answers take up to two seconds
  kSlowIndex,    ///< those of one index do
  kBusy,         ///< a third of the requests is turned down (429)
  kBusyItems,    ///< a third of the items is
  kUnavailable,  ///< all requests are turned down (503)
  kCut,          ///< a fifth never arrives
  kLost,         ///< a fifth has its reply lost
  kHanging,      ///< a tenth is not answered in time, and arrives later
  kTwice,        ///< a fifth arrives again some seconds later
  kBlocked,      ///< one index takes no writes
};
inline constexpr int kWeathers = 11;
const char* name_of(Weather weather);

class Network {
 public:
  /// All of it must outlive this. `note` hears what happened, in words.
  Network(Fibers& fibers, fake::Elasticsearch& elasticsearch, std::function<void(const std::string&)> note);

  /// As the one argument of what makes a leader.
  std::function<std::unique_ptr<HttpTransport>()> transports();

  /// `index`: of the weather that concerns one.
  void change(Weather weather, const std::string& index);

  /// Whether what Elasticsearch does now comes of a request that its sender has given up.
  bool is_late() const { return is_late_; }

  /// How many such requests are still to come.
  int late() const { return late_; }

 private:
  class Transport;

  HttpResponse perform(const HttpRequest& request, const bool& is_cancelled);
  /// Waits as long as the other side takes. Throws when the sender gives up.
  void pass(std::chrono::microseconds time, SteadyTime deadline, const bool& is_cancelled, bool sent);
  HttpResponse arrive(const std::string& method, const std::string& path, const std::string& body);
  void arrive_later(const HttpRequest& request, std::chrono::milliseconds within);
  HttpResponse apply_some(const HttpRequest& request, bool is_blocked);
  int index_of(std::string_view bulk);
  bool one_in(std::uint32_t times) { return fibers_.random() % times == 0; }
  std::chrono::microseconds up_to(std::chrono::microseconds most);

  Fibers& fibers_;
  const std::function<void(const std::string&)> note_;
  fake::Elasticsearch& elasticsearch_;
  const std::function<std::unique_ptr<HttpTransport>()> direct_;
  Weather weather_ = Weather::kCalm;
  std::string index_;
  bool is_late_ = false;
  int late_ = 0;
};

}  // namespace lockstep::simulation
