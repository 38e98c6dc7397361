// What the generated triggers add to a writer's statements: backend CPU by the kernel's own account,
// untracked and tracked table in turns, so that whatever else the machine does is the same for both.
//
//   LOCKSTEP_TEST_POSTGRESQL=… benchmark_trigger_cost [rounds]
//
// The server must run on this machine, and its processes be readable (/proc/PID/schedstat): as its user or as
// root.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/postgres_definition.h"
#include "replicator/source/postgres_session.h"
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

constexpr int kBatch = 200;

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
  std::vector<double> cost[2];
  std::string names[2];
  for (int side = 0; side < 2; ++side) {
    names[side] = std::string(what) + (side == 0 ? " untracked" : " tracked");
    std::string text = statement;
    text.replace(text.find("{table}"), 7, side == 0 ? "s.untracked" : "s.tracked");
    writer.connection->prepare(names[side], text);
  }
  for (int round = -2; round < rounds; ++round) {
    for (int side = 0; side < 2; ++side) {
      const double microseconds = batch(writer, names[side], round + 3);
      if (round >= 0) cost[side].push_back(microseconds);
    }
  }
  std::printf("%-44s %8.1f %8.1f %8.1f\n", what, quartile(cost[0]), quartile(cost[1]),
              quartile(cost[1]) - quartile(cost[0]));
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

  Writer writer(database);
  std::printf("microseconds of backend CPU a statement       without     with    added\n");
  compare(writer, "update of a column in a document", "update {table} set name = 'name ' || $2 where id = $1",
          rounds);
  compare(writer, "update of a column in none", "update {table} set email = 'email ' || $2 where id = $1",
          rounds);
  compare(writer, "update that touches no row",
          "update {table} set name = 'name ' || $2 where id = -$1::bigint", rounds);
  compare_large(writer, database);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  try {
    lockstep::run(argc > 1 ? std::atoi(argv[1]) : 60);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
