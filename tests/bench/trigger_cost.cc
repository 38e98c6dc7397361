// What the generated triggers add to a writer's statements: backend CPU by the kernel's own account, the
// tables in turns, so that whatever else the machine does is the same for all: one without triggers, the
// tracked one, and two floors: with a trigger that only has its old and new rows, and with one that adds a
// row to the outbox and nothing else. Then how many updates a second four writers get done, untracked and
// tracked in turns.
//
//   LOCKSTEP_TEST_POSTGRESQL=… benchmark_trigger_cost [--rounds N]
//
// The server must run on this machine, and its processes be readable (/proc/PID/schedstat): as its user or as
// root.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres/define/definition.h"
#include "replicator/source/postgres/session/session.h"
#include "tests/bench/support/command_line.h"
#include "tests/support/postgres_database.h"

namespace lockstep {
namespace {

constexpr const char* kSchema = R"sql(
create schema s;
create table s.untracked (id bigint primary key, name text not null, email text) with (fillfactor = 50);
create table s.tracked (like s.untracked including all) with (fillfactor = 50);
create table s.posts (id bigint primary key, user_id bigint, title text);
create index on s.posts (user_id);
create view s.documents as select p.id as _id, p.user_id as _user_id, p.title, u.name from s.posts as p
  join s.tracked as u on u.id = p.user_id;
insert into s.untracked select i, 'name', 'email' from generate_series(1, 2000) as i;
insert into s.tracked select * from s.untracked;
)sql";

// REQUIRES: lockstep's schema.
constexpr const char* kFloors = R"sql(
create table s.empty (like s.untracked including all) with (fillfactor = 50);
create table s.bare (like s.untracked including all) with (fillfactor = 50);
insert into s.empty select * from s.untracked;
insert into s.bare select * from s.untracked;
create function s.empty() returns trigger language plpgsql as 'begin return null; end';
create function s.bare() returns trigger language plpgsql as
  'begin insert into lockstep.outbox (capture, keys) values (1, array[''1'']); return null; end';
create trigger floor after update on s.empty referencing old table as old_rows new table as new_rows
  for each statement execute function s.empty();
create trigger floor after update on s.bare referencing old table as old_rows new table as new_rows
  for each statement execute function s.bare();
)sql";

constexpr int kBatch = 50;
constexpr int kWriters = 4;
constexpr std::chrono::milliseconds kTurn{1500};
constexpr std::array<const char*, 4> kTables = {"untracked", "empty", "bare", "tracked"};

struct Writer {
  explicit Writer(support::PostgresDatabase& database) : connection(database.connect()) {
    pqxx::nontransaction ask(*connection);
    schedstat = "/proc/" + std::string(ask.exec1("select pg_backend_pid()")[0].c_str()) + "/schedstat";
  }

  double cpu_microseconds() const {
    std::ifstream file(schedstat);
    double nanoseconds = 0;
    if (!(file >> nanoseconds))
      throw std::runtime_error("cannot read " + schedstat + ": run this beside the server, as root");
    return nanoseconds / 1000;
  }

  std::unique_ptr<pqxx::connection> connection;
  std::string schedstat;
};

double quartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 4];
}

// CPU of one statement out of a batch, each in a transaction of its own.
double batch(Writer& writer, const std::string& statement, int round) {
  pqxx::nontransaction direct(*writer.connection);
  const double before = writer.cpu_microseconds();
  for (int i = 0; i < kBatch; ++i)
    direct.exec_prepared(statement, (round * 7919 + i * 104729) % 2000 + 1, round * kBatch + i);
  return (writer.cpu_microseconds() - before) / kBatch;
}

void compare(Writer& writer, const char* what, const std::string& statement, int rounds) {
  std::array<std::vector<double>, kTables.size()> cost;
  std::array<std::string, kTables.size()> names;
  for (std::size_t side = 0; side < kTables.size(); ++side) {
    names[side] = std::string(what) + " " + kTables[side];
    std::string text = statement;
    text.replace(text.find("{table}"), 7, std::string("s.") + kTables[side]);
    writer.connection->prepare(names[side], text);
  }
  for (int round = -2; round < rounds; ++round) {
    for (std::size_t side = 0; side < kTables.size(); ++side) {
      const double microseconds = batch(writer, names[side], round + 3);
      if (round >= 0) cost[side].push_back(microseconds);
    }
  }
  const double without = quartile(cost[0]);
  std::printf("%-36s %8.1f", what, without);
  for (std::size_t side = 1; side < kTables.size(); ++side)
    std::printf(" %8.1f", quartile(cost[side]) - without);
  std::printf("\n");
}

// Updates that are committed within a turn, by writers that have connections of their own.
double updates_per_second(support::PostgresDatabase& database, const std::string& table) {
  std::atomic<long> done = 0;
  std::vector<std::unique_ptr<pqxx::connection>> connections;
  for (int i = 0; i < kWriters; ++i) {
    connections.push_back(database.connect());
    connections.back()->prepare("update", "update s." + table + " set name = 'name ' || $2 where id = $1");
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      pqxx::nontransaction direct(*connections[writer]);
      for (int i = 0; std::chrono::steady_clock::now() - begin < kTurn; ++i) {
        direct.exec_prepared("update", i % 500 * kWriters + writer + 1, i);
        ++done;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  return static_cast<double>(done) /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void compare_throughput(support::PostgresDatabase& database, int turns) {
  std::array<std::vector<double>, 2> rates;
  for (int turn = 0; turn < turns; ++turn) {
    rates[0].push_back(updates_per_second(database, "untracked"));
    rates[1].push_back(updates_per_second(database, "tracked"));
  }
  for (std::vector<double>& rate : rates) std::sort(rate.begin(), rate.end());
  std::printf("updates/s of %d writers, median of %d turns: untracked %.0f, tracked %.0f\n", kWriters, turns,
              rates[0][rates[0].size() / 2], rates[1][rates[1].size() / 2]);
}

void compare_large(Writer& writer, support::PostgresDatabase& database) {
  database.execute(
      "insert into s.untracked select i, 'name', 'email' from generate_series(10001, 310000) as i");
  database.execute(
      "insert into s.tracked select i, 'name', 'email' from generate_series(10001, 310000) as i");
  for (const bool is_tracked : {false, true, false, true}) {
    const std::string table = is_tracked ? "s.tracked" : "s.untracked";
    database.execute("vacuum analyze " + table);
    const double before = writer.cpu_microseconds();
    support::execute(*writer.connection, "update " + table + " set name = name || 'x' where id > 10000");
    std::printf("one update of 300,000 rows, %-16s %8.2f s\n", is_tracked ? "tracked" : "untracked",
                (writer.cpu_microseconds() - before) / 1e6);
  }
}

void run(int rounds) {
  support::PostgresDatabase database;
  database.execute(kSchema);
  Config config;
  config.source.url = database.url();
  config.source.password = Secret(database.password());
  IndexConfig index;
  index.alias = "documents";
  index.view = "s.documents";
  index.tracks.resize(2);
  index.tracks[0].table = "s.posts";
  index.tracks[1].table = "s.tracked";
  index.tracks[1].column = "_user_id";
  config.indices.push_back(index);
  PostgresSession session(config.source, "benchmark");
  PostgresDefinition(session, config).apply({});

  database.execute(kFloors);
  Writer writer(database);
  std::printf("microseconds of backend CPU a statement;  added by a trigger:\n%-36s %8s %8s %8s %8s\n", "",
              "without", "empty", "insert", "tracked");
  compare(writer, "update of a column in a document", "update {table} set name = 'name ' || $2 where id = $1",
          rounds);
  compare(writer, "update of a column in none", "update {table} set email = 'email ' || $2 where id = $1",
          rounds);
  compare(writer, "update that touches no row",
          "update {table} set name = 'name ' || $2 where id = -$1::bigint", rounds);
  compare_throughput(database, 9);
  compare_large(writer, database);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  CLI::App app{"What the triggers add to a writer's statements, in backend CPU, and to throughput.",
               "benchmark_trigger_cost"};
  bool quick = false;
  int rounds = 200;
  app.add_flag("--quick", quick, "the small form: it shows that the benchmark works, and measures nothing");
  app.add_option("--rounds", rounds, "how often each table has its turn (200)")
      ->check(lockstep::benchmarks::at_least(1));
  if (const auto code = lockstep::benchmarks::end_after_parsing(app, argc, argv)) return *code;
  try {
    lockstep::run(quick ? 2 : rounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
