// What the generated triggers of a SQLite source add to a writer's transactions: CPU of this thread, the
// tables in turns, so that whatever else the machine does is the same for all: one without triggers, one with
// triggers that only append a row to the outbox, and the tracked one. Each has an integer key and a unique
// text; the view does not read the column `unread`.
//
//   benchmark_sqlite_trigger_cost [--rounds N] [--folder DIR]
#include <sqlite3.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/sqlite/define/source_definition.h"
#include "tests/bench/support/command_line.h"

namespace lockstep {
namespace {

constexpr int kRows = 50'000;
constexpr int kBatch = 500;
constexpr std::array<const char*, 3> kTables = {"untracked", "appended", "tracked"};

class Writer {
 public:
  explicit Writer(const std::filesystem::path& file) {
    if (sqlite3_open(file.c_str(), &handle_) != SQLITE_OK) throw std::runtime_error("cannot open the file");
    execute("pragma journal_mode = wal; pragma synchronous = normal");
  }
  ~Writer() { sqlite3_close(handle_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void execute(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle_));
  }

  /// Microseconds of CPU of a transaction, out of a batch. `sql` takes a number as ?1.
  double batch(const std::string& sql, int first) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
      throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle_));
    const double before = cpu_microseconds();
    for (int i = 0; i < kBatch; ++i) {
      sqlite3_bind_int(statement, 1, first + i);
      if (sqlite3_step(statement) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(handle_));
      sqlite3_reset(statement);
    }
    const double used = cpu_microseconds() - before;
    sqlite3_finalize(statement);
    return used / kBatch;
  }

  /// Microseconds of CPU of a row, in one statement.
  double bulk(const std::string& sql) {
    const double before = cpu_microseconds();
    execute(sql);
    return (cpu_microseconds() - before) / kRows;
  }

 private:
  static double cpu_microseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
  }

  sqlite3* handle_ = nullptr;
};

std::string with_table(std::string sql, const std::string& table) {
  for (std::size_t at = sql.find("{table}"); at != std::string::npos; at = sql.find("{table}"))
    sql.replace(at, 7, table);
  return sql;
}

void make_tables(Writer& writer, const std::filesystem::path& file) {
  for (const char* const table : kTables) {
    writer.execute(with_table(
        "create table {table} (id integer primary key, name text not null unique, n integer, unread integer);"
        "with recursive i (n) as (select 1 union all select n + 1 from i where n < " +
            std::to_string(kRows) + ") insert into {table} select n, 'name ' || n, 0, 0 from i",
        table));
  }
  writer.execute("create view documents as select id as _id, name, n from tracked");
  Config config;
  config.source.kind = SourceConfig::Kind::kSqlite;
  config.source.url = "sqlite:" + file.string();
  config.source.database = file;
  IndexConfig index;
  index.alias = index.view = "documents";
  index.tracks.emplace_back().table = "tracked";
  config.indices.push_back(index);
  SqliteSourceDefinition(config).apply({});
  const std::string append = "insert into lockstep_outbox (capture, value) values (1, ";
  writer.execute("create trigger appended_insert after insert on appended begin " + append +
                 "new.id); end; create trigger appended_update after update on appended begin " + append +
                 "new.id); end");
}

double quartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 4];
}

template <class Measure>
void compare(const char* what, int rounds, const Measure& measure) {
  std::array<std::vector<double>, kTables.size()> costs;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kTables.size(); ++i) costs[i].push_back(measure(kTables[i], round));
  }
  std::printf("%-28s", what);
  for (const std::vector<double>& cost : costs) std::printf(" %10.2f", quartile(cost));
  std::printf("\n");
}

void run(int rounds, const std::filesystem::path& file) {
  Writer writer(file);
  make_tables(writer, file);
  std::printf("%-28s %10s %10s %10s   µs of CPU\n", "", kTables[0], kTables[1], kTables[2]);
  const auto single = [&](const char* what, const std::string& sql, int first) {
    compare(what, rounds, [&](const char* table, int round) {
      return writer.batch(with_table(sql, table), first + round * kBatch);
    });
  };
  single("update, a transaction", "update {table} set n = n + 1 where id = ?1", 1);
  single("update of an unread column", "update {table} set unread = unread + 1 where id = ?1", 1);
  single("insert", "insert into {table} values (?1, 'name ' || ?1, 0, 0)", 2 * kRows);
  single("insert or replace", "insert or replace into {table} values (?1, 'name ' || ?1, 1, 0)", 1);
  const auto all = [&](const char* what, const std::string& sql) {
    compare(what, std::max(rounds / 10, 3),
            [&](const char* table, int /*round*/) { return writer.bulk(with_table(sql, table)); });
  };
  all("update of 50,000 rows, a row", "update {table} set n = n + 1 where id <= 50000");
  all("the same, an unread column", "update {table} set unread = unread + 1 where id <= 50000");
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  CLI::App app{"What the triggers of a SQLite source add to a writer's transactions, in CPU.",
               "benchmark_sqlite_trigger_cost"};
  bool quick = false;
  int rounds = 60;
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  app.add_flag("--quick", quick, "the small form: it shows that the benchmark works, and measures nothing");
  app.add_option("--rounds", rounds, "how often each table has its turn (60)")
      ->check(lockstep::benchmarks::at_least(1));
  app.add_option("--folder", folder, "where a folder for the file is made (" + folder.string() + ")")
      ->check(CLI::ExistingDirectory);
  if (const auto code = lockstep::benchmarks::end_after_parsing(app, argc, argv)) return *code;
  try {
    folder /= "lockstep-sqlite-cost-" + std::to_string(time(nullptr));
    std::filesystem::create_directories(folder);
    lockstep::run(quick ? 2 : rounds, folder / "app.db");
    std::filesystem::remove_all(folder);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
