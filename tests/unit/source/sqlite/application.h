// An application's own connection to its SQLite file, and the configuration of a pipeline over it.
#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "replicator/config/config.h"

namespace lockstep {

/// A folder that goes with its test.
class ApplicationFolder {
 public:
  ApplicationFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "lockstep-sqlite-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    path_ = name;
  }
  ~ApplicationFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ApplicationFolder(const ApplicationFolder&) = delete;
  ApplicationFolder& operator=(const ApplicationFolder&) = delete;

  std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

class Application {
 public:
  using Rows = std::vector<std::vector<std::string>>;

  explicit Application(const std::filesystem::path& file) {
    if (sqlite3_open(file.c_str(), &handle_) != SQLITE_OK) throw std::runtime_error("cannot open a file");
    execute("pragma journal_mode = wal; pragma synchronous = off; pragma foreign_keys = on");
  }
  ~Application() { sqlite3_close(handle_); }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  sqlite3* handle() { return handle_; }

  /// The result code.
  int attempt(const std::string& statements) {
    return sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr);
  }

  void execute(const std::string& statements) {
    if (attempt(statements) != SQLITE_OK)
      throw std::runtime_error(statements + ": " + sqlite3_errmsg(handle_));
  }

  /// Values as texts; null: "null".
  Rows rows(const std::string& query) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle_, query.c_str(), -1, &statement, nullptr) != SQLITE_OK)
      throw std::runtime_error(query + ": " + sqlite3_errmsg(handle_));
    Rows found;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      std::vector<std::string>& row = found.emplace_back();
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        row.emplace_back(text == nullptr ? "null" : text);
      }
    }
    sqlite3_finalize(statement);
    return found;
  }

  /// The first column.
  std::vector<std::string> column(const std::string& query) {
    std::vector<std::string> values;
    for (const std::vector<std::string>& row : rows(query)) values.push_back(row.front());
    return values;
  }

  std::string value(const std::string& query) {
    const std::vector<std::string> values = column(query);
    return values.empty() ? "none" : values.front();
  }

  /// "table: value", as SQL writes the value, for what the outbox has behind `after`.
  std::vector<std::string> captured(std::int64_t after = 0) {
    return column(
        "select c.relation || ': ' || quote(o.value) from lockstep_outbox as o join "
        "lockstep_capture as c on c.id = o.capture where o.id > " +
        std::to_string(after) + " order by o.id");
  }

  /// What the statements write into the outbox.
  std::vector<std::string> captured_by(const std::string& statements) {
    const std::string last = value("select coalesce(max(id), 0) from lockstep_outbox");
    execute(statements);
    return captured(std::stoll(last));
  }

 private:
  sqlite3* handle_ = nullptr;
};

inline TrackConfig sqlite_track(const std::string& table, const std::string& column = {},
                                const std::string& row = {}, const std::string& keys = {}) {
  TrackConfig track;
  track.table = table;
  track.column = column;
  track.row = row;
  track.keys = keys;
  return track;
}

inline IndexConfig sqlite_index(const std::string& view, std::vector<TrackConfig> tracks) {
  IndexConfig index;
  index.alias = view;
  index.view = view;
  index.tracks = std::move(tracks);
  return index;
}

inline Config sqlite_config(const std::filesystem::path& file, std::vector<IndexConfig> indices) {
  Config config;
  config.source.kind = SourceConfig::Kind::kSqlite;
  config.source.url = "sqlite:" + file.string();
  config.source.database = file;
  config.indices = std::move(indices);
  return config;
}

}  // namespace lockstep
