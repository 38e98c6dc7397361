#include "tests/integration/defined_database.h"

#include "replicator/error.h"

namespace lockstep {

DefinedDatabase::DefinedDatabase(std::string_view schema) {
  database_.execute(schema);
  config_.file = "test.toml";
  config_.source.url = database_.url();
  config_.source.password = Secret(database_.password());
}

IndexConfig& DefinedDatabase::add_index(const std::string& view, const std::vector<TrackConfig>& tracks) {
  IndexConfig index;
  index.alias = "index-" + std::to_string(config_.indices.size() + 1);
  index.view = view;
  index.tracks = tracks;
  index.line = 10 * static_cast<int>(config_.indices.size() + 1);
  int line = index.line;
  for (TrackConfig& track : index.tracks) track.line = ++line;
  config_.indices.push_back(std::move(index));
  return config_.indices.back();
}

PostgresSession DefinedDatabase::session(const std::string& role) {
  SourceConfig source = config_.source;
  if (!role.empty()) source.url = database_.url_as(role);
  return {source, "test"};
}

std::vector<PlanStep> DefinedDatabase::plan() {
  PostgresSession connection = session();
  return PostgresDefinition(connection, config_).plan();
}

void DefinedDatabase::apply(const std::string& role) {
  PostgresSession connection = session(role);
  PostgresDefinition(connection, config_).apply({});
}

void DefinedDatabase::remove() {
  PostgresSession connection = session();
  PostgresDefinition(connection, config_).remove({});
}

std::vector<std::string> DefinedDatabase::planned() {
  std::vector<std::string> lines;
  for (const PlanStep& step : plan()) {
    const char* const actions[] = {"create ", "change ", "drop "};
    lines.push_back(actions[static_cast<int>(step.action)] + step.object);
  }
  return lines;
}

std::string DefinedDatabase::faults() {
  try {
    plan();
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

std::set<std::string> DefinedDatabase::captured_by(std::string_view sql) {
  captured();
  database_.execute(sql);
  return captured();
}

std::set<std::string> DefinedDatabase::captured() {
  std::set<std::string> lines;
  for (const pqxx::row& row : database_.query(
           "select c.relation || ' (' || c.expression || '): ' || case when bool_or(o.keys is null) then "
           "'everything' "
           "else string_agg(distinct k.key, ' ' order by k.key) end "
           "from lockstep.outbox as o join lockstep.capture as c on c.id = o.capture "
           "left join lateral unnest(o.keys) as k(key) on true group by c.id, c.relation, c.expression")) {
    lines.insert(row[0].c_str());
  }
  database_.execute("delete from lockstep.outbox");
  return lines;
}

std::int64_t DefinedDatabase::outbox_rows() {
  return database_.number("select count(*) from lockstep.outbox");
}

std::set<std::string> DefinedDatabase::jobs() {
  std::set<std::string> lines;
  for (const pqxx::row& row : database_.query("select kind || ': ' || reason from lockstep.job")) {
    lines.insert(row[0].c_str());
  }
  database_.execute("delete from lockstep.job");
  return lines;
}

TrackConfig track(const std::string& table) {
  TrackConfig track;
  track.table = table;
  return track;
}

TrackConfig track_by_column(const std::string& table, const std::string& column) {
  TrackConfig track;
  track.table = table;
  track.column = column;
  return track;
}

TrackConfig track_by_row(const std::string& table, const std::string& row) {
  TrackConfig track;
  track.table = table;
  track.row = row;
  return track;
}

TrackConfig track_by_keys(const std::string& table, const std::string& keys) {
  TrackConfig track;
  track.table = table;
  track.keys = keys;
  return track;
}

}  // namespace lockstep
