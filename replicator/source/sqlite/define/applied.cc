#include "replicator/source/sqlite/define/applied.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "replicator/error.h"
#include "replicator/source/sqlite/catalog/table.h"
#include "replicator/source/sqlite/session/migrations.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kLookingForApplied = "looking for the applied pipeline";

int number(const SqliteColumn& column, std::string_view table) {
  return static_cast<int>(stored_integer(column, table));
}

class Loader {
 public:
  Loader(SqliteConnection& connection, const std::string& pipeline)
      : connection_(connection), pipeline_(pipeline) {}

  SqliteApplied load() {
    load_triggers();
    applied_.has_tables = has_own_tables(connection_);
    if (!applied_.has_tables) return std::move(applied_);
    load_pipeline();
    if (!applied_.pipeline) return std::move(applied_);
    load_captures();
    load_indices();
    load_generations();
    return std::move(applied_);
  }

 private:
  void load_triggers() {
    SqliteStatement triggers(connection_, kLookingForApplied,
                             "select name, tbl_name, sql from main.sqlite_schema where type = 'trigger' and "
                             "substr(name, 1, length(?1)) = ?1",
                             connection_.schema() + "_");
    while (triggers.step()) {
      applied_.triggers[std::string(triggers[0].text())] = {std::string(triggers[1].text()),
                                                            std::string(triggers[2].text())};
    }
  }

  void load_pipeline() {
    SqliteStatement counters(connection_, kLookingForApplied,
                             "select c.pipeline, c.\"index\", c.capture, l.max_rows, (select count(*) from "
                             "{schema}_pipeline) from {schema}_counter as c, {schema}_outbox_limit as l");
    if (!counters.step())
      throw Error({kLookingForApplied, "a row of lockstep's own tables is gone",
                   "remove the pipelines of this file, and apply them again"});
    applied_.last_pipeline = number(counters[0], "counter");
    applied_.last_index = number(counters[1], "counter");
    applied_.last_capture = number(counters[2], "counter");
    applied_.max_rows = counters[3].optional_integer();
    applied_.pipelines = number(counters[4], "pipeline");
    SqliteStatement found(connection_, kLookingForApplied, "select id from {schema}_pipeline where name = ?1",
                          pipeline_);
    if (found.step()) applied_.pipeline = number(found[0], "pipeline");
  }

  void load_captures() {
    SqliteStatement rows(
        connection_, kLookingForApplied,
        "select id, relation, value, query, columns from {schema}_capture where pipeline = ?1 "
        "order by id",
        *applied_.pipeline);
    while (rows.step()) {
      SqliteTableCapture capture;
      capture.id = number(rows[0], "capture");
      capture.relation = stored_text(rows[1], "capture");
      capture.value = names_in(stored_text(rows[2], "capture"));
      capture.query = rows[3].optional_text().value_or("");
      if (const auto columns = rows[4].optional_text()) capture.columns = names_in(*columns);
      if (capture.value.empty())
        throw Error(
            {kLookingForApplied, "capture " + std::to_string(capture.id) + " has no columns",
             "lockstep's tables were written by something else; remove the pipeline and apply it again"});
      applied_.captures.push_back(std::move(capture));
    }
  }

  void load_indices() {
    // The table of an older Lockstep lacks these columns.
    const bool has_definitions =
        find_table(connection_, connection_.schema() + "_index")->column("configured");
    SqliteStatement rows(connection_, kLookingForApplied,
                         "select id, alias, view, id_type, routed, fields, json_fields, definition, " +
                             std::string(has_definitions ? "configured, followed" : "null, 1") +
                             " from {schema}_index where pipeline = ?1",
                         *applied_.pipeline);
    while (rows.step()) {
      AppliedIndexRow index;
      index.id = number(rows[0], "index");
      index.view = stored_text(rows[2], "index");
      index.id_type = stored_text(rows[3], "index");
      index.routed = stored_integer(rows[4], "index") != 0;
      index.fields = names_in(stored_text(rows[5], "index"));
      index.json_fields = names_in(stored_text(rows[6], "index"));
      index.definition = stored_text(rows[7], "index");
      index.configured = rows[8].optional_text().value_or("");
      index.followed = stored_integer(rows[9], "index") != 0;
      load_tracks(index);
      applied_.indices.emplace(stored_text(rows[1], "index"), std::move(index));
    }
  }

  void load_generations() {
    // The tables of an older Lockstep lack this one.
    if (!find_table(connection_, connection_.schema() + "_reindex")) return;
    SqliteStatement rows(
        connection_, kLookingForApplied,
        "select beside, alias, kept_until is not null from {schema}_reindex where pipeline = ?1",
        *applied_.pipeline);
    while (rows.step()) {
      for (auto& [alias, index] : applied_.indices) {
        if (rows[0].optional_integer() != index.id) continue;
        index.beside = stored_text(rows[1], "reindex");
        index.was_swapped = stored_integer(rows[2], "reindex") != 0;
      }
    }
  }

  void load_tracks(AppliedIndexRow& index) {
    SqliteStatement rows(connection_, kLookingForApplied,
                         "select capture, resolver from {schema}_track where index_id = ?1", index.id);
    while (rows.step()) {
      const int id = number(rows[0], "track");
      index.tracks.emplace(id, rows[1].optional_text().value_or(""));
      for (SqliteTableCapture& capture : applied_.captures) {
        if (capture.id == id) capture.views.insert(index.view);
      }
    }
  }

  SqliteConnection& connection_;
  const std::string& pipeline_;
  SqliteApplied applied_;
};

}  // namespace

SqliteApplied load_applied(SqliteConnection& connection, const std::string& pipeline) {
  return Loader(connection, pipeline).load();
}

std::string names_text(const std::vector<std::string>& names) {
  return nlohmann::json(names).dump();
}

std::vector<std::string> names_in(std::string_view text) {
  try {
    return nlohmann::json::parse(text).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    throw Error({kLookingForApplied, error.what(),
                 "lockstep's tables were written by something else; remove the pipeline and apply it again"});
  }
}

bool is_same_trigger(const SqliteAppliedTrigger& stored, const SqliteTrigger& wanted) {
  constexpr std::size_t kWritten = std::string_view("create trigger ").size();
  return is_same_name(stored.table, wanted.table) && stored.sql.size() > kWritten &&
         std::string_view(stored.sql).substr(kWritten) == std::string_view(wanted.sql).substr(kWritten);
}

bool looks_at_limit(const SqliteConnection& connection, const SqliteApplied& applied) {
  bool has_any = false;
  for (const SqliteTableCapture& capture : applied.captures) {
    const std::string prefix = trigger_prefix(connection.schema(), capture.id);
    for (const auto& [name, trigger] : applied.triggers) {
      if (!name.starts_with(prefix)) continue;
      if (trigger.sql.find(connection.schema() + "_outbox_limit") != std::string::npos) return true;
      has_any = true;
    }
  }
  return !has_any && applied.max_rows.has_value();
}

}  // namespace lockstep
