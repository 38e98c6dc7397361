#include "replicator/draft/files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

// Literal if that needs no escapes.
std::string toml_string(const std::string& text) {
  if (text.find('\n') != std::string::npos) return "'''\n" + text + "\n'''";
  const bool literal = text.find('"') != std::string::npos && text.find('\'') == std::string::npos;
  return literal ? "'" + text + "'" : nlohmann::json(text).dump();
}

std::string union_of(const std::vector<std::string>& queries) {
  std::string text;
  for (const std::string& query : queries) text += (text.empty() ? "" : "\nunion\n") + query;
  return text;
}

std::string track_text(const DraftTrack& track) {
  std::string text;
  for (const std::string& path : track.paths) text += "\n# " + path;
  if (track.paths.empty()) text += "\n# the documents themselves";
  text += "\n[[index.track]]\ntable = " + toml_string(track.table) + "\n";
  if (!track.row.empty()) text += "row = " + toml_string(track.row) + "\n";
  if (!track.queries.empty()) text += "keys = " + toml_string(union_of(track.queries)) + "\n";
  return text;
}

std::string json_text(const std::vector<std::string>& columns) {
  std::string list;
  for (const std::string& column : columns) list += (list.empty() ? "" : ", ") + toml_string(column);
  return list.empty() ? "" : "json = [" + list + "]\n";
}

std::string as_comment(const std::string& text) {
  std::string comment;
  for (std::size_t begin = 1; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    comment += "# " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return comment;
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string unknown_text(const UnknownTrack& track, const SqlDialect& dialect) {
  std::string known;
  for (const DraftTrack& way : track.known) known += "#\n" + as_comment(track_text(way));
  if (!known.empty()) known = "# These are not enough:\n" + known;
  const std::string table = "# [[index.track]]\n# table = " + toml_string(track.table) + "\n";
  const std::string ids = track.every_document.empty() ? "select …" : on_one_line(track.every_document);
  std::string text = "\n# Not known: " + track.reason +
                     ".\n# Describe the way from a changed row to _ids: row, if its own columns make them; "
                     "column, if the view shows its\n# key; else keys. Or ignore = true if its changes don't "
                     "matter.\n" +
                     table + "# keys = " + toml_string(ids + " where " + dialect.is_among_values("…", "=")) +
                     "\n" + known;
  if (!track.every_document.empty())
    text += "# Until then this finds every document, at each change:\n" + table +
            "# keys = " + toml_string(ids) + "\n";
  return text;
}

}  // namespace

std::string draft_configuration(const DraftPipeline& pipeline, const DraftTracks& tracks,
                                const SqlDialect& dialect) {
  std::string text =
      "# Written by lockstep init. docs/configuration.md and `lockstep print-config --sample` explain every "
      "key.\n"
      "pipeline = " +
      toml_string(pipeline.pipeline) + "\n\n[source]\nurl = " + toml_string(pipeline.source_url) + "\n";
  if (pipeline.asks_for_password) text += "password_env = \"PGPASSWORD\"  # or password_file\n";
  text += "\n[elasticsearch]\nurls = [" + toml_string(pipeline.elasticsearch_url) +
          "]\n\n[[index]]\nalias = " + toml_string(pipeline.alias) +
          "\nmapping = " + toml_string(pipeline.mapping_file) + "\nview = " + toml_string(pipeline.view) +
          "\n" + json_text(pipeline.json);
  for (const DraftTrack& track : tracks.tracks) text += track_text(track);
  for (const UnknownTrack& track : tracks.unknown) text += unknown_text(track, dialect);
  return text;
}

std::string draft_statements(const std::string& view, const TableGraph& graph, const DraftTracks& tracks,
                             const SqlDialect& dialect) {
  std::string text;
  if (!view.empty())
    text +=
        "\n-- Remove the columns that searchers must not see, here and in the mapping. Those that look like "
        "secrets are not in it.\n" +
        view;
  if (!tracks.missing_indices.empty())
    text +=
        "\n-- Rows are looked up by these columns, and no index begins with them. A small table needs "
        "none.\n";
  for (const DraftIndex& index : tracks.missing_indices)
    text += dialect.create_index(graph.at(index.table), index.columns);
  return text.empty()
             ? ""
             : "-- Written by lockstep init. Review it, then run it once as the tables' owner.\n" + text;
}

std::string pipeline_name(const std::string& alias) {
  constexpr std::size_t kLongest = 40;
  std::string name;
  for (const char c : alias.substr(0, kLongest)) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    name += fits ? c : '-';
  }
  return name;
}

}  // namespace lockstep
