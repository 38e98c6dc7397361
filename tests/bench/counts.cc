// What work costs in things that can be counted: statements and round trips to PostgreSQL, requests and bytes
// to Elasticsearch, WAL. They are nearly the same on a busy machine, where timers run a little more often
// meanwhile: so a test holds them to their bounds (--guard). What to do when one is passed:
// tests/bench/README.md, "counts".
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include "tests/bench/support/benchmark.h"
#include "tests/bench/support/blog_work.h"
#include "tests/support/private_postgres.h"
#include "tests/support/recording_proxy.h"
#include "tests/support/servers.h"
#include "tests/support/tcp_proxy.h"

namespace lockstep::benchmarks {
namespace {

// Nothing but the work itself writes WAL or runs statements.
const std::vector<std::string> kQuiet{"shared_preload_libraries=pg_stat_statements", "full_page_writes=off",
                                      "autovacuum=off", "wal_writer_delay=10s"};

const std::string kPoll = "select pg_current_snapshot()::text";

struct Counts {
  std::int64_t polls = 0;        ///< questions whether something is new: as many as there is time for
  std::int64_t statements = 0;   ///< all others
  std::int64_t round_trips = 0;  ///< polls included
  std::int64_t requests = 0;     ///< of any kind
  std::int64_t bulks = 0;
  std::int64_t bytes = 0;  ///< in bodies of requests
  double seconds = 0;

  Counts operator-(const Counts& before) const {
    return {polls - before.polls,       statements - before.statements, round_trips - before.round_trips,
            requests - before.requests, bulks - before.bulks,           bytes - before.bytes,
            seconds - before.seconds};
  }
};

class Counted {
 public:
  Counted(std::int64_t documents, std::int64_t changes, Report& report)
      : changes_(changes),
        report_(report),
        way_({"127.0.0.1", static_cast<int>(database_.number("show port"))}),
        work_(documents, elasticsearch_.url(), server_.url()) {
    database_.execute("create extension pg_stat_statements");
    elasticsearch_.disturb([this](const support::HttpMessage& request) {
      bytes_ += static_cast<std::int64_t>(request.body.size());
      if (support::RecordingProxy::is_bulk(request)) ++bulks_;
      return std::nullopt;
    });
    work_.pipeline().set_source("postgresql://postgres@127.0.0.1:" + std::to_string(way_.port()) + "/" +
                                work_.database().name());
    // Whether a second connection is worth it is a question of time.
    work_.pipeline().set_more_of_source("render_connections = 1\n");
  }

  void wal() {
    const std::int64_t without = wal_of_changes();
    work_.begin_anew();
    work_.catch_up();
    const std::int64_t with = wal_of_changes();
    add("WAL that a trigger adds to " + changes(), "bytes", with - without);
    work_.catch_up();
  }

  void nothing() {
    const Counts run = counts_of([&] { work_.catch_up(); });
    longest_ = std::max(longest_, run.seconds);
    if (!nothing_ || run.statements < nothing_->statements) nothing_ = run;
    add("nothing to do: statements", "statements", run.statements);
    add("nothing to do: round trips to PostgreSQL", "round trips", run.round_trips - run.polls);
    add("nothing to do: requests", "requests", run.requests);
  }

  /// REQUIRES: nothing() was called.
  void drain() {
    change_titles();
    const Counts run = counts_of([&] { work_.catch_up(); });
    longest_ = std::max(longest_, run.seconds);
    const Counts more = run - nothing_.value();
    add(changes() + ": statements more", "statements", more.statements);
    add(changes() + ": round trips to PostgreSQL more", "round trips", more.round_trips - more.polls);
    add(changes() + ": bulk requests", "requests", more.bulks);
    add(changes() + ": other requests more", "requests", more.requests - more.bulks);
    add(changes() + ": bytes sent to Elasticsearch", "bytes", more.bytes);
  }

  /// The bounds are for 1,000 changes and for runs of up to two seconds. In each second that a starved
  /// machine takes longer, timers add to what is counted: about four statements.
  void bound() {
    const double over = std::max(0.0, longest_ - 2);
    at_most("WAL that a trigger adds to " + changes(), 200'000);
    at_most("nothing to do: statements", 115 + 6 * over);
    at_most("nothing to do: round trips to PostgreSQL", 120 + 6 * over);
    at_most("nothing to do: requests", 3 + over);
    at_most(changes() + ": statements more", 50 + 6 * over);
    at_most(changes() + ": round trips to PostgreSQL more", 50 + 6 * over);
    at_most(changes() + ": bulk requests", 1);
    at_most(changes() + ": other requests more", 3 + over);
    at_most(changes() + ": bytes sent to Elasticsearch", 610'000 + 1'000 * over);
  }

 private:
  std::string changes() const { return std::to_string(changes_) + " changes"; }

  void add(const std::string& name, const std::string& unit, std::int64_t count) {
    report_.add(name, unit, static_cast<double>(count));
  }

  void at_most(const std::string& name, double bound) { report_.target(name, Report::Bound::kAtMost, bound); }

  Counts counts() {
    const auto calls = [&](const std::string& condition) {
      return database_.number(
          "select coalesce(sum(calls), 0) from pg_stat_statements where dbid = "
          "(select oid from pg_database where datname = '" +
          work_.database().name() + "') and query " + condition);
    };
    return {calls("= '" + kPoll + "'"),
            calls("<> '" + kPoll + "'"),
            way_.round_trips(),
            elasticsearch_.requests(),
            bulks_,
            bytes_,
            std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
  }

  template <typename Work>
  Counts counts_of(const Work& work) {
    const Counts before = counts();
    work();
    return counts() - before;
  }

  // Each a transaction of its own, and of another document.
  void change_titles() {
    work_.database().execute("do $$ begin for i in 1.." + std::to_string(changes_) +
                             " loop update blog.posts set title = 'change " + std::to_string(++times_) +
                             " of ' || i where id = i; commit; end loop; end $$");
  }

  std::int64_t wal_of_changes() {
    const auto position = [&] {
      return database_.number("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint");
    };
    change_titles();  // the first ones find full pages
    work_.database().execute("vacuum blog.posts");
    const std::int64_t before = position();
    change_titles();
    return position() - before;
  }

  const std::int64_t changes_;
  Report& report_;
  int times_ = 0;
  double longest_ = 0;             // of the runs whose work was counted, in seconds
  std::optional<Counts> nothing_;  // the least that a run with nothing to do has taken
  support::PrivatePostgres server_{kQuiet};
  support::PostgresDatabase database_{server_.url()};  // another one than that whose statements are counted
  support::TcpProxy way_;
  support::RecordingProxy elasticsearch_;
  std::atomic<std::int64_t> bytes_ = 0;
  std::atomic<std::int64_t> bulks_ = 0;
  BlogWork work_;
};

void run(const Parameters& parameters, Report& report) {
  Counted counted(parameters["documents"], parameters["changes"], report);
  counted.wal();
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) counted.nothing();
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) counted.drain();
  counted.bound();
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark({"counts",
                                          "Statements, round trips, requests, bytes and WAL of a drain.",
                                          {{"rounds", 3, 2, "how often the drain is counted"},
                                           {"documents", 20'000, 2'000, "rows of the view"},
                                           {"changes", 1'000, 1'000, "single-row updates"}},
                                          lockstep::benchmarks::run},
                                         argc, argv);
}
