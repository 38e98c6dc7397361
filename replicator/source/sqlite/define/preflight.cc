#include "replicator/source/sqlite/define/preflight.h"

#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "replicator/document_limits.h"
#include "replicator/error.h"
#include "replicator/one_line.h"
#include "replicator/source/sqlite/catalog/table.h"
#include "replicator/source/sqlite/define/applied.h"
#include "replicator/source/sqlite/define/design.h"
#include "replicator/source/sqlite/define/differences.h"
#include "replicator/source/sqlite/session/migrations.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

using Severity = Finding::Severity;

constexpr int kOldestSqlite = 3'038'000;   // sqlite3_libversion_number()
constexpr std::int64_t kManyRows = 1'000;  // read for one document
constexpr const char* kLookingAtRows = "looking at rows";

// File systems on which several machines may write one file, by the number that statfs() gives (their
// headers).
constexpr std::array<std::pair<std::uint64_t, const char*>, 10> kNetworks = {{{0x6969, "NFS"},
                                                                              {0x517B, "SMB"},
                                                                              {0xFF534D42, "CIFS"},
                                                                              {0xFE534D42, "SMB"},
                                                                              {0x01021997, "9P"},
                                                                              {0x5346414F, "AFS"},
                                                                              {0x00C36400, "Ceph"},
                                                                              {0x0BD00BD0, "Lustre"},
                                                                              {0x01161970, "GFS2"},
                                                                              {0x7461636F, "OCFS2"}}};

// The name of the network file system on which the file lies; empty: it lies on none.
std::string network_of(const std::filesystem::path& path) {
  struct statfs found {};
  if (statfs(path.c_str(), &found) != 0) return {};
  for (const auto& [number, name] : kNetworks) {
    if (static_cast<std::uint32_t>(found.f_type) == number) return name;
  }
  return {};
}

// JSON has none.
std::string without_blob(const std::string& value) {
  return "iif(typeof(" + value + ") = 'blob', null, " + value + ")";
}

// As it runs in any SQLite: the function of Lockstep's own changes no plan.
std::string without_own_function(std::string query) {
  constexpr std::string_view kOwn = "lockstep_value(value)";
  for (std::size_t at = query.find(kOwn); at != std::string::npos; at = query.find(kOwn))
    query.replace(at, kOwn.size(), "value");
  return query;
}

class Preflight {
 public:
  Preflight(SqliteConnection& connection, const Config& config, std::vector<Finding>& findings)
      : connection_(connection), config_(config), findings_(findings) {}

  void check() {
    if (!check_sqlite() || !check_tables()) return;
    check_file(connection_, findings_);
    check_journal();
    design_ = design_pipeline(
        connection_, config_,
        wanted_indices(config_, stored_indices_of(load_applied(connection_, config_.pipeline).indices)));
    findings_.insert(findings_.end(), design_.findings.begin(), design_.findings.end());
    check_documents();
    for (const SqliteIndexDesign& index : design_.indices) check_searches(index);
    if (!has_own_tables(connection_)) return;
    for (SqliteDifference& difference : differences_from_applied(connection_, config_.pipeline)) {
      findings_.push_back({difference.loses_changes ? Severity::kError : Severity::kWarning,
                           "source",
                           std::move(difference.text),
                           {},
                           Finding::Cause::kServer});
    }
  }

  void check_documents() {
    for (const IndexConfig& index : config_.indices) check_rows(index);
  }

 private:
  void fault(std::string place, std::string message, std::string remedy = {}) {
    findings_.push_back({Severity::kError, std::move(place), std::move(message), std::move(remedy)});
  }
  void warn(std::string place, std::string message, std::string remedy = {}) {
    findings_.push_back({Severity::kWarning, std::move(place), std::move(message), std::move(remedy)});
  }

  // --- the file ---

  void server_fault(std::string message, std::string remedy = {}) {
    findings_.push_back(
        {Severity::kError, "source", std::move(message), std::move(remedy), Finding::Cause::kServer});
  }

  bool check_sqlite() {
    if (sqlite3_libversion_number() >= kOldestSqlite) return true;
    server_fault(std::string("lockstep runs with SQLite ") + sqlite3_libversion(), "install 3.38 or newer");
    return false;
  }

  bool check_tables() {
    if (!has_own_tables(connection_)) return true;
    try {
      if (pending_migrations(connection_).empty()) return true;
      server_fault("an older lockstep has made its tables in this file", "run `lockstep apply`");
    } catch (const UsageError& error) {
      server_fault(error.what());
    }
    return false;
  }

  void check_journal() {
    SqliteStatement mode(connection_, kLookingAtRows, "pragma journal_mode");
    if (!mode.step() || mode[0].text() == "wal") return;
    warn("source",
         "the journal mode is " + std::string(mode[0].text()) +
             ": while lockstep reads, for some milliseconds at a time, the application cannot commit",
         "let the application run `pragma journal_mode = wal` once; lockstep never changes it");
  }

  // --- rows ---

  // Runs a look at rows. A complaint of SQLite is a fault of the view.
  void look(const std::string& place, const std::string& what, const std::function<void()>& body) {
    try {
      body();
    } catch (const SqliteError& error) {
      if (error.retryable()) throw;
      fault(place, what + ": " + error.parts().cause);
    }
  }

  void check_rows(const IndexConfig& index) {
    const std::optional<SqliteTable> view = find_table(connection_, index.view);
    if (!view || view->column("_id") == nullptr) return;  // the design reports it
    const std::string place = place_in(config_, index.line);
    look(place, "reading some rows of view " + view->name, [&] { check_ids(place, *view); });
    look(place, "reading some rows of view " + view->name, [&] { check_json(place, *view, index); });
    look(place, "reading some rows of view " + view->name, [&] {
      SqliteStatement rows(connection_, kLookingAtRows, "select * from " + view->quoted + " limit 10");
      while (rows.step()) check_values(place, *view, index, rows);
    });
  }

  void check_ids(const std::string& place, const SqliteTable& view) {
    SqliteStatement ids(
        connection_, kLookingAtRows,
        "select count(*), count(_id), count(distinct cast(_id as text)), sum(typeof(_id) = 'blob') "
        "from (select _id from " +
            view.quoted + " limit 10000)");
    if (!ids.step()) return;
    const std::int64_t rows = ids[0].integer();
    const std::int64_t named = ids[1].integer();
    if (named < rows) {
      fault(place,
            std::to_string(rows - named) + " of " + std::to_string(rows) + " rows of view " + view.name +
                " have no _id",
            "leave them out: where … is not null");
    }
    if (ids[2].integer() < named) {
      fault(place, "_id of view " + view.name + " is not unique", "group its rows, or take another _id");
    }
    SqliteStatement longest(connection_, kLookingAtRows,
                            "select cast(_id as text) from (select _id from " + view.quoted +
                                " where _id is not null limit 10000) "
                                "order by length(cast(_id as blob)) desc limit 1");
    if (longest.step() && longest[0].text().size() > kMaxIdBytes) {
      warn(place, "view " + view.name + " has an _id of " + std::to_string(longest[0].text().size()) +
                      " bytes; Elasticsearch takes " + std::to_string(kMaxIdBytes) +
                      " at most, so it becomes a dead letter");
    }
    if (ids[3].optional_integer().value_or(0) > 0) {
      fault(
          place, "_id of view " + view.name + " is a blob",
          "make it a text in the view: lower(hex(…)) as _id, and let row = \"…\" of its tracks do the same");
    }
  }

  void check_json(const std::string& place, const SqliteTable& view, const IndexConfig& index) {
    for (const std::string& name : index.json_columns) {
      if (view.column(name) == nullptr) continue;  // the design reports it
      const std::string column = quote_sqlite_name(name);
      SqliteStatement found(
          connection_, kLookingAtRows,
          "select count(*), sum(not json_valid(value)), max(iif(json_valid(value), null, id)) "
          "from (select _id as id, " +
              column + " as value from " + view.quoted + " where typeof(" + column +
              ") = 'text' limit 1000)");
      if (!found.step() || found[1].optional_integer().value_or(0) == 0) continue;
      const std::string message =
          "column " + name + " of view " + view.name + ", which `json` names, holds no JSON in " +
          std::to_string(found[1].integer()) + " of " + std::to_string(found[0].integer()) +
          " documents, such as " + std::string(found[2].text()) + "; they become dead letters";
      const std::string remedy =
          "take it out of json = […] in [[index]], or make JSON of it in the view: json_quote(" + name + ")";
      if (found[1].integer() == found[0].integer()) {
        fault(place, message, remedy);
      } else {
        warn(place, message, remedy);
      }
    }
  }

  void check_values(const std::string& place, const SqliteTable& view, const IndexConfig& index,
                    const SqliteStatement& row) {
    for (int i = 0; i < row.columns(); ++i) {
      const std::string name = row[i].name();
      if (name.starts_with('_')) continue;
      bool is_json = false;
      for (const std::string& field : index.json_columns) is_json |= field == name;
      if (is_json || row[i].type() != SqliteColumn::Type::kText || has_said_json_) continue;
      const std::string_view text = row[i].text();
      if (text.empty() || (text.front() != '{' && text.front() != '[')) continue;
      SqliteStatement valid(connection_, kLookingAtRows, "select json_valid(?1)", text);
      if (!valid.step() || valid[0].integer() == 0) continue;
      has_said_json_ = true;
      warn(place,
           "column " + name + " of view " + view.name + " holds JSON, and becomes a text in the documents",
           "write json = [\"" + name + "\"] in [[index]] if it is meant as JSON");
    }
  }

  // SQLite counts the rows that it reads because it has no index.
  void check_searches(const SqliteIndexDesign& index) {
    const std::string view = quote_sqlite_name(index.view);
    look(index.line, "rendering documents of view " + index.view + " by their _id", [&] {
      warn_of_scan(index.line, "rendering a document of view " + index.view,
                   "select * from " + view + " where _id in (select value from json_each(?1))",
                   sample("select json_array(" + without_blob("_id") + ") from " + view + " limit 1"));
    });
    for (const SqliteTrackDesign& track : index.tracks) {
      const SqliteTableCapture& capture = design_.captures[track.capture];
      if (track.resolver.empty() || !capture.query.empty() || capture.value.size() != 1) continue;
      look(track.line, "finding the documents of " + index.alias + " for a row of " + track.table, [&] {
        warn_of_scan(track.line,
                     "finding the documents of " + index.alias + " for a changed row of " + track.table,
                     track.resolver,
                     sample("select json_array(" + without_blob(quote_sqlite_name(capture.value.front())) +
                            ") from " + quote_sqlite_name(track.table) + " limit 1"));
      });
    }
  }

  std::optional<std::string> sample(const std::string& query) {
    SqliteStatement found(connection_, kLookingAtRows, query);
    return found.step() ? found[0].optional_text() : std::nullopt;
  }

  // ": SCAN posts, SCAN u", as SQLite's plan has it.
  std::string scanned(const std::string& query) {
    std::string text;
    SqliteStatement plan(connection_, kLookingAtRows, "explain query plan " + query);
    while (plan.step()) {
      const std::string step(plan[3].text());
      if (!step.starts_with("SCAN ") || step.starts_with("SCAN json_each")) continue;
      text += (text.empty() ? ": " : ", ") + step;
    }
    return text;
  }

  void warn_of_scan(const std::string& place, const std::string& what, const std::string& query,
                    const std::optional<std::string>& values) {
    if (!values) return;
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(connection_.handle(), query.c_str(), -1, &statement, nullptr);
    std::int64_t documents = 0;
    std::int64_t read = 0;
    if (code == SQLITE_OK) {
      sqlite3_bind_text(statement, 1, values->c_str(), -1, SQLITE_TRANSIENT);
      while ((code = sqlite3_step(statement)) == SQLITE_ROW) ++documents;
      read = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) throw sqlite_error(what, connection_.handle(), code);
    if (read < kManyRows || read < 2 * documents) return;
    warn(place, what + " reads " + std::to_string(read) + " rows one after the other" + scanned(query),
         "create an index on the columns by which they are found: EXPLAIN QUERY PLAN of " +
             in_one_line(without_own_function(query)) +
             " shows SCAN where it is missing; in a union, cast null to the type of the other branch");
  }

  SqliteConnection& connection_;
  const Config& config_;
  std::vector<Finding>& findings_;
  SqlitePipelineDesign design_;
  bool has_said_json_ = false;
};

}  // namespace

std::vector<Finding> check_sqlite(SqliteConnection& connection, const Config& config) {
  std::vector<Finding> findings;
  Preflight(connection, config, findings).check();
  return findings;
}

void check_file(const SqliteConnection& connection, std::vector<Finding>& findings) {
  const std::filesystem::path& path = connection.file().path();
  const std::filesystem::path folder = path.parent_path();
  const auto fault = [&](std::string message, std::string remedy) {
    findings.push_back({Severity::kError, "source.url", std::move(message), std::move(remedy)});
  };
  if (const std::string network = network_of(path); !network.empty()) {
    fault(path.string() + " lies on a network file system (" + network +
              "), where SQLite's locks do not keep processes apart",
          "run lockstep on the machine of the application, with the file on its disk");
  }
  if (std::filesystem::exists(folder / "raft.db")) {
    fault(path.string() +
              " belongs to rqlite, which replaces it at any time and does not expect triggers in it",
          "follow a database that the application itself opens");
  }
  if (access(folder.c_str(), W_OK) != 0) {
    fault("nothing can be written into folder " + folder.string() +
              ", where SQLite keeps files next to the database",
          "let lockstep's user write there");
  }
}

void check_documents(SqliteConnection& connection, const Config& config, std::vector<Finding>& findings) {
  Preflight(connection, config, findings).check_documents();
}

}  // namespace lockstep
