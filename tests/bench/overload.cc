// More changes than Elasticsearch takes, on rows that many documents share, without a pause: how long until
// all is equal after the last one, whether the rate holds, and what small changes and a reindex wait
// meanwhile. The measure is a ready bulk of all documents: no document needs to be written more often than
// once after the last change.
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/ceiling.h"
#include "tests/bench/support/change_cost.h"
#include "tests/bench/support/shop_work.h"

namespace lockstep::benchmarks {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr BulkShape kReadyBulk{1 << 20, 2};

/// Writes that Elasticsearch has taken, those into indices that are gone now among them: a reindex ends one.
std::int64_t operations() {
  support::ElasticsearchServer server;
  std::int64_t all = 0;
  const auto stats = server.expect("GET", "/_nodes/stats/indices/indexing");
  for (const auto& node : stats.at("nodes"))
    all += node.at("indices").at("indexing").at("index_total").get<std::int64_t>();
  return all;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Threads that do something again and again until stop(). What one of them throws, stop() throws.
class Crowd {
 public:
  void add(std::function<void(const std::stop_token&)> member) {
    members_.push_back(std::async(
        std::launch::async, [member = std::move(member), token = stop_.get_token()] { member(token); }));
  }
  void stop() {
    stop_.request_stop();
    for (std::future<void>& member : members_) member.get();
    members_.clear();
  }

 private:
  std::stop_source stop_;
  std::vector<std::future<void>> members_;
};

class Overload {
 public:
  Overload(const Parameters& parameters, Report& report)
      : parameters_(parameters),
        report_(report),
        work_(parameters["sqlite"] == 0 ? ShopWork::Store::kPostgres : ShopWork::Store::kSqlite,
              {parameters["orders"], parameters["products"], parameters["customers"]}),
        ready_(work_.ready_documents()),
        ceiling_(ShopWork::mapping(), ready_) {
    work_.pipeline().apply();
    work_.pipeline().catch_up();
    ceiling_.fill(kReadyBulk);
  }

  void alone() { under_load("", 0, false); }
  void with_searchers_and_reindex() {
    const double undisturbed = reindex_undisturbed();
    report_.add("reindex, without load", "s", undisturbed);
    under_load(", searchers and a reindex", parameters_["searchers"], true);
    const std::string measure = "reindex under load / without";
    report_.add(measure, "", report_.median_of("reindex under load") / undisturbed);
    report_.target(measure, Report::Bound::kAtMost, 4);
  }

  void finish() { work_.pipeline().must("verify", {}, kPatienceForWork); }

 private:
  /// Beside the same searchers as what is compared with it.
  double ready_bulk() {
    search(ceiling_.index());
    let_merges_end();
    return ceiling_.overwrite(ready_, kReadyBulk);
  }

  double reindex_undisturbed() {
    const std::unique_ptr<support::Program> service = work_.pipeline().start();
    const double seconds = reindex();
    end(*service);
    return seconds;
  }

  double reindex() {
    const auto begin = Clock::now();
    work_.pipeline().must("reindex", {work_.orders().alias()}, kPatienceForWork);
    const double seconds = seconds_since(begin);
    work_.pipeline().must("reindex", {"--finish", "--yes", work_.orders().alias()}, kPatienceForWork);
    return seconds;
  }

  static void end(support::Program& service) {
    service.signal(SIGTERM);
    service.wait(support::kPatience);
  }

  void under_load(const std::string& with, std::int64_t searchers, bool with_reindex) {
    Crowd others;
    for (std::int64_t i = 0; i < searchers; ++i) others.add(searcher());
    const double bulk = ready_bulk();
    report_.add("ready bulk of all documents" + with, "s", bulk);
    report_.control("ready bulk of all documents" + with);
    const std::unique_ptr<support::Program> service = work_.pipeline().start();
    Probe(work_.connect(), work_.orders()).change(work_.quiet_change(++probes_));
    const std::int64_t before = operations();
    due_ = 0;
    Crowd writers;
    for (std::int64_t i = 0; i < parameters_["writers"]; ++i) writers.add(writer());
    std::vector<double> quiet;
    std::vector<double> hot;
    others.add(prober(quiet, [this](std::int64_t n) { return work_.quiet_change(n); }));
    others.add(prober(hot, [this](std::int64_t n) { return work_.hot_change(n); }));
    std::future<double> reindexed;
    const auto third = std::chrono::milliseconds(parameters_["seconds"] * 1000 / 3);
    std::int64_t written[3] = {};
    std::int64_t at = before;
    for (std::int64_t& each : written) {
      const auto until = Clock::now() + third;
      if (with_reindex && &each == written + 1)
        reindexed = std::async(std::launch::async, [this] { return reindex(); });
      std::this_thread::sleep_until(until);
      const std::int64_t now = operations();
      each = now - at;
      at = now;
    }
    writers.stop();
    const auto ended = Clock::now();
    const double lag = work_.pipeline().status().at("lag").at("seconds").get<double>();
    work_.pipeline().must("wait", {"--timeout", "1h"}, kPatienceForWork);
    const double equal = seconds_since(ended);
    if (reindexed.valid()) report_.add("reindex under load", "s", reindexed.get());
    others.stop();
    const double documents = static_cast<double>(ready_.size());
    report_.add("demand: due documents / documents" + with, "", static_cast<double>(due_) / documents);
    report_.add("work: written documents / documents" + with, "",
                static_cast<double>(operations() - before) / documents);
    report_.add("written, first third" + with, "documents/s",
                written[0] * 1000. / static_cast<double>(third.count()));
    report_.add("written, last third / first third" + with, "",
                static_cast<double>(written[2]) / static_cast<double>(std::max<std::int64_t>(1, written[0])));
    report_.target("written, last third / first third" + with, Report::Bound::kAtLeast, 0.8);
    report_.add("lag after the last commit" + with, "s", lag);
    report_.add("last commit to equality" + with, "s", equal);
    const std::string ratio = "last commit to equality, less 1 s / ready bulk" + with;
    report_.add(ratio, "", std::max(0., equal - 1) / bulk);
    report_.target(ratio, Report::Bound::kAtMost, 4);
    if (!quiet.empty()) {
      report_.add_distribution("small change of a document of its own" + with, "ms", quiet);
      report_.target("small change of a document of its own" + with + ", p99", Report::Bound::kAtMost, 250);
    }
    if (!hot.empty()) report_.add_distribution("small change of a document of many" + with, "ms", hot);
    end(*service);
  }

  std::function<void(const std::stop_token&)> writer() {
    const std::int64_t per_second = parameters_["per_second"];
    const auto pause = per_second == 0 ? 0us : 1'000'000us * parameters_["writers"] / per_second;
    return [this, pause, execute = work_.connect(), seed = ++seeds_](const std::stop_token& stop) {
      std::mt19937_64 random(seed);
      auto next = Clock::now();
      while (!stop.stop_requested()) {
        const ShopWork::PopularChange change = work_.popular_change(random);
        execute(change.sql);
        due_ += change.documents;
        next = std::max(next + pause, Clock::now() - pause);
        std::this_thread::sleep_until(next);
      }
    };
  }

  std::function<void(const std::stop_token&)> searcher() {
    return [this](const std::stop_token& stop) {
      support::ElasticsearchServer server;
      while (!stop.stop_requested()) {
        server.expect("POST", "/" + work_.orders().alias() + "/_search?size=10",
                      R"({"query":{"match":{"note":"note"}}})");
      }
    };
  }

  std::function<void(const std::stop_token&)> prober(std::vector<double>& milliseconds,
                                                     std::function<Change(std::int64_t)> make) {
    return [this, &milliseconds, make = std::move(make),
            execute = work_.connect()](const std::stop_token& stop) {
      support::ElasticsearchServer server;
      while (!stop.stop_requested()) {
        const Change change = make(++probes_);
        execute(change.sql);
        const auto begin = Clock::now();
        const std::string path = "/" + work_.orders().alias() + "/_doc/" + change.id;
        while (server.expect("GET", path).dump().find(*change.expected) == std::string::npos)
          std::this_thread::sleep_for(1ms);
        milliseconds.push_back(seconds_since(begin) * 1000);
        std::this_thread::sleep_for(50ms);
      }
    };
  }

  const Parameters& parameters_;
  Report& report_;
  ShopWork work_;
  const std::vector<ReadyDocument> ready_;
  Ceiling ceiling_;
  std::atomic<std::int64_t> due_ = 0;
  std::atomic<std::int64_t> probes_ = 0;
  std::uint64_t seeds_ = 0;
};

void run(const Parameters& parameters, Report& report) {
  Overload overload(parameters, report);
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    overload.alone();
    if (parameters["searchers"] > 0) overload.with_searchers_and_reindex();
  }
  overload.finish();
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"overload",
       "More changes than Elasticsearch takes, on rows that many documents share; then searchers and a "
       "reindex as well.",
       {{"rounds", 3, 1, "how often each is measured, in turns"},
        {"orders", 20'000, 500, "documents"},
        {"products", 60, 60, "rows of which each is in about a twentieth of the orders"},
        {"customers", 50, 50, "rows of which each is in a fiftieth of the orders"},
        {"writers", 4, 4, "sessions that change products and customers"},
        {"per_second", 60, 60, "their changes in all; 0: without a pause"},
        {"seconds", 30, 3, "how long they write"},
        {"searchers", 3, 0, "sessions that search meanwhile, with a reindex; 0: leave that out"},
        {"sqlite", 0, 0, "1: over a SQLite file"}},
       lockstep::benchmarks::run},
      argc, argv);
}
