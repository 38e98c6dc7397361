// How fast PostgreSQL renders paths: the view of the example fs, six levels deep, in the chunks in which a
// large rename renders it (files of a directory together), and with every chunk from all over the tree.
#include <chrono>
#include <string>
#include <vector>

#include "tests/bench/support/benchmark.h"
#include "tests/support/postgres_database.h"

namespace lockstep::benchmarks {
namespace {

constexpr int kLevels = 6;
constexpr int kDirectoriesOfADirectory = 6;

void make_tree(support::PostgresDatabase& database, std::int64_t files) {
  database.run(LOCKSTEP_SOURCE_DIR "/schema/fs/postgresql/install.sql");
  database.execute("select fs.mkdir('/level 1')");
  for (int level = 2; level <= kLevels; ++level) {
    database.execute("insert into fs.nodes (parent_id, name, kind) select n.id, 'level " +
                     std::to_string(level) + ", ' || i, 'directory' from fs.nodes n, generate_series(1, " +
                     std::to_string(kDirectoriesOfADirectory) + ") i where n.name like 'level " +
                     std::to_string(level - 1) + "%'");
  }
  database.execute(
      "with d as (select id, row_number() over () - 1 as number, count(*) over () as all_of_them from "
      "fs.nodes "
      "where kind = 'directory' and parent_id is not null) "
      "insert into fs.nodes (parent_id, name, kind, contents) "
      "select d.id, 'file ' || i, 'file', 'contents of file ' || i from generate_series(1, " +
      std::to_string(files) + ") i join d on d.number = i % d.all_of_them");
  database.execute("vacuum analyze fs.nodes");
}

// Array literals of ids, `documents` each.
std::vector<std::string> chunks(support::PostgresDatabase& database, const std::string& order,
                                std::int64_t documents) {
  std::vector<std::string> all;
  for (const pqxx::row& row :
       database.query("select array_agg(id)::text from (select id, (row_number() over (order by " + order +
                      ") - 1) / " + std::to_string(documents) +
                      " as chunk from fs.nodes where kind = 'file') as n group by chunk order by chunk")) {
    all.emplace_back(row[0].c_str());
  }
  return all;
}

// Seconds until all of them have been rendered and read.
double render(const support::PostgresDatabase& database, const std::vector<std::string>& chunks) {
  const auto connection = database.connect();
  pqxx::nontransaction session(*connection);
  session.exec(
      "set jit = off; set enable_seqscan = off; set plan_cache_mode = force_custom_plan");  // as lockstep
                                                                                            // does
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& ids : chunks) {
    session.exec_params(
        "select v._id::text, row_to_json((select f from (select v.name, v.path, v.kind, v.contents) as "
        "f))::text "
        "from fs.documents as v where v._id = any($1::bigint[])",
        ids);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(const Parameters& parameters, Report& report) {
  const std::int64_t files = parameters["files"];
  support::PostgresDatabase database;
  make_tree(database, files);
  const auto together = chunks(database, "parent_id, id", parameters["chunk"]);
  const auto scattered = chunks(database, "hashint8(id)", parameters["chunk"]);
  render(database, together);  // from the disk into memory
  for (std::int64_t round = 0; round < parameters["rounds"]; ++round) {
    report.add("files of a directory together", "documents/s",
               static_cast<double>(files) / render(database, together));
    report.add("each chunk from all over the tree", "documents/s",
               static_cast<double>(files) / render(database, scattered));
  }
  report.target("files of a directory together", Report::Bound::kAtLeast, 100'000);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  return lockstep::benchmarks::benchmark(
      {"rendering",
       "Renders the documents of a file system out of PostgreSQL, without lockstep.",
       {{"rounds", 5, 1, "how often each is measured, in turns"},
        {"files", 300'000, 5'000, "of the tree"},
        {"chunk", 2'000, 2'000, "documents that are rendered together"}},
       lockstep::benchmarks::run},
      argc, argv);
}
