#include "replicator/source/index_definition.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "replicator/error.h"
#include "replicator/listed.h"
#include "replicator/unknown_value.h"
#include "replicator/warnings.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* kRoutingColumn = "column _routing";

json track_json(const TrackConfig& track) {
  return {{"table", track.table}, {"column", track.column},   {"row", track.row},
          {"keys", track.keys},   {"columns", track.columns}, {"ignore", track.ignore}};
}

TrackConfig track_in(const json& stored, int line) {
  TrackConfig track;
  track.table = stored.at("table").get<std::string>();
  track.column = stored.at("column").get<std::string>();
  track.row = stored.at("row").get<std::string>();
  track.keys = stored.at("keys").get<std::string>();
  track.columns = stored.at("columns").get<std::vector<std::string>>();
  track.ignore = stored.at("ignore").get<bool>();
  track.line = line;
  return track;
}

const IndexConfig* configured_index(const Config& config, const std::string& alias) {
  const auto found = std::find_if(config.indices.begin(), config.indices.end(),
                                  [&](const IndexConfig& index) { return index.alias == alias; });
  return found == config.indices.end() ? nullptr : &*found;
}

// Its faults are reported with the line of the alias.
IndexConfig as_stored(const Config& config, const StoredIndex& index) {
  const IndexConfig* const alias = configured_index(config, index.beside.value_or(index.name));
  IndexConfig kept;
  kept.alias = index.name;
  kept.line = alias == nullptr ? 0 : alias->line;
  try {
    const json stored = json::parse(index.configured);
    kept.view = stored.at("view").get<std::string>();
    kept.json_columns = stored.at("json").get<std::vector<std::string>>();
    for (const json& track : stored.at("tracks")) kept.tracks.push_back(track_in(track, kept.line));
  } catch (const json::exception&) {
    throw unfit_value("index " + index.name, "configured", "\"" + index.configured + "\"",
                      "a definition that lockstep has written");
  }
  if (index.followed) kept.fields = index.fields;
  return kept;
}

}  // namespace

const IndexConfig& definition_for_reindex(const Config& config, const std::string& alias) {
  const IndexConfig* const found = configured_index(config, alias);
  if (found == nullptr)
    throw UsageError("the configuration has no index " + alias + ", whose definition a reindex could take");
  return *found;
}

std::string repetition_text(const std::string& reason, bool is_id_changed) {
  std::string text = reason +
                     ": all documents are written again, and those that the view no longer has deleted; "
                     "searches see both forms until then";
  if (is_id_changed) text += ", and a document whose _id changes twice";
  return text;
}

std::string reason_to_compare(const std::vector<std::string>& replaced) {
  return warning("parts_replaced", {listed(replaced)});
}

std::string definition_text(const IndexConfig& index) {
  json tracks = json::array();
  for (const TrackConfig& track : index.tracks) tracks.push_back(track_json(track));
  return json{{"view", index.view}, {"json", index.json_columns}, {"tracks", std::move(tracks)}}.dump();
}

std::vector<IndexConfig> wanted_indices(const Config& config, const std::vector<StoredIndex>& stored) {
  std::vector<IndexConfig> wanted;
  for (const IndexConfig& index : config.indices) {
    const StoredIndex* live = nullptr;
    const StoredIndex* beside = nullptr;
    for (const StoredIndex& each : stored) {
      if (each.name == index.alias) live = &each;
      if (each.beside == index.alias) beside = &each;
    }
    if (live == nullptr || beside == nullptr) {
      wanted.push_back(index);
      continue;
    }
    IndexConfig of_beside = index;
    of_beside.alias = beside->name;
    if (beside->was_swapped) of_beside.fields = beside->fields;
    const std::string text = definition_text(index);
    if (live->configured == beside->configured || beside->configured.empty()) {
      wanted.push_back(index);
      wanted.push_back(std::move(of_beside));
    } else if (text == beside->configured && text != live->configured && !live->configured.empty()) {
      wanted.push_back(as_stored(config, *live));
      wanted.push_back(std::move(of_beside));
    } else {
      wanted.push_back(index);
      wanted.push_back(as_stored(config, *beside));
      if (!beside->was_swapped) wanted.back().fields.reset();
    }
  }
  return wanted;
}

std::vector<IndexConfig> stored_indices(const Config& config, const std::vector<StoredIndex>& stored) {
  std::vector<IndexConfig> indices;
  for (const StoredIndex& index : stored) {
    if (index.configured.empty())
      throw Error({"looking for the definition of index " + index.name, "an older lockstep has stored none",
                   "run `lockstep apply` with the configuration that it has now"});
    indices.push_back(as_stored(config, index));
  }
  return indices;
}

std::vector<std::string> redefined(const Config& config, const std::vector<StoredIndex>& stored) {
  std::vector<std::string> aliases;
  for (const StoredIndex& index : stored) {
    const IndexConfig* const configured = configured_index(config, index.name);
    if (configured != nullptr && !index.configured.empty() &&
        index.configured != definition_text(*configured))
      aliases.push_back(index.name);
  }
  return aliases;
}

void attribute_findings(const Config& config, const IndexConfig& index, std::size_t first,
                        std::vector<Finding>& findings) {
  const std::string text = definition_text(index);
  if (std::any_of(config.indices.begin(), config.indices.end(),
                  [&](const IndexConfig& each) { return definition_text(each) == text; }))
    return;
  const auto begin = findings.begin() + static_cast<std::ptrdiff_t>(first);
  findings.erase(
      std::remove_if(begin, findings.end(),
                     [](const Finding& each) { return each.severity == Finding::Severity::kWarning; }),
      findings.end());
  for (std::size_t i = first; i < findings.size(); ++i) {
    findings[i].message = "index " + index.alias + " as it was applied: " + findings[i].message;
    // Its own would be about a file that describes another one.
    findings[i].remedy =
        "the configuration describes it otherwise now: run `lockstep apply`, or end the reindex that keeps "
        "it";
  }
}

void keep_fields(const IndexConfig& index, std::vector<std::string>& fields) {
  if (!index.fields) return;
  std::erase_if(fields, [&](const std::string& field) {
    return std::find(index.fields->begin(), index.fields->end(), field) == index.fields->end();
  });
}

std::vector<DefinitionDifference> compare_shapes(const DocumentShape& is, const DocumentShape& wanted) {
  using Way = DefinitionDifference::Way;
  const Way way = is.view == wanted.view ? Way::kInPlace : Way::kNewIndex;
  std::vector<DefinitionDifference> differences;
  const auto compare = [&](const std::string& place, const std::string& before, const std::string& after) {
    if (before != after) differences.push_back({place, before, after, way});
  };
  compare("view", is.view, wanted.view);
  compare("column _id", is.id_type, wanted.id_type);
  compare(kRoutingColumn, is.routed ? "a column" : "", wanted.routed ? "a column" : "");
  const auto has = [](const DocumentShape& shape, const std::string& field) {
    return std::find(shape.fields.begin(), shape.fields.end(), field) != shape.fields.end();
  };
  for (const std::string& field : is.fields)
    if (!has(wanted, field)) compare("column " + field, "a column", "");
  for (const std::string& field : wanted.fields)
    if (!has(is, field)) compare("column " + field, "", "a column");
  return differences;
}

bool is_later_field(const DefinitionDifference& difference) {
  return difference.is.empty() && difference.place != kRoutingColumn;
}

std::string shape_text(const std::vector<DefinitionDifference>& differences) {
  std::string text;
  for (const DefinitionDifference& each : differences) {
    text += (text.empty() ? "" : ", ") + each.place;
    text += each.is.empty()       ? " is not in the documents"
            : each.wanted.empty() ? " is gone from the view"
                                  : " is " + each.is + ", in the view " + each.wanted;
  }
  return text;
}

}  // namespace lockstep
