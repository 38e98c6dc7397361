#include "replicator/elasticsearch/admin/index_fitness.h"

#include "replicator/elasticsearch/admin/deletion_memory.h"
#include "replicator/elasticsearch/transport/json_fields.h"

namespace lockstep {
namespace {

using nlohmann::json;

bool is_true(const json& value) {
  return value == true || value == "true";
}

/// Whether this part of "_source" leaves documents as they are.
bool keeps_documents(const std::string& key, const json& value) {
  if (key == "enabled") return is_true(value);
  if (key == "mode") return value == "stored";
  return value.is_array() && value.empty();  // excludes, includes
}

bool keeps_whole_source(const json& mappings, const json& settings) {
  const json source = object_at(mappings, "_source");
  for (const auto& [key, value] : source.items()) {
    if (!keeps_documents(key, value)) return false;
  }
  const std::string stored = text_at(settings, "index.mapping.source.mode");
  if (!stored.empty()) return stored == "stored";
  const std::string mode = text_at(settings, "index.mode");  // some regenerate documents
  return mode != "logsdb" && mode != "time_series";
}

}  // namespace

std::optional<UnfitIndex> why_unfit(const json& mappings, const json& settings) {
  if (!keeps_whole_source(mappings, settings)) {
    return UnfitIndex{
        "a _source that is not kept whole, so that its documents cannot be compared with their view",
        "leave out what limits _source; in the view, begin the names of columns to be hidden with "
        "_"};
  }
  if (const auto enabled = mappings.find("enabled"); enabled != mappings.end() && !is_true(*enabled)) {
    return UnfitIndex{
        "\"enabled\": false at the root of its mapping, so that no field is indexed and no search finds a "
        "document by one",
        "leave it out, and give an index that has it another one with `lockstep reindex`; if no field is "
        "to "
        "be searched, \"dynamic\": false without properties does that"};
  }
  if (const auto forgetting = forgets_deletions_early(settings))
    return UnfitIndex{forgetting->problem, forgetting->remedy};
  if (text_at(settings, "index.translog.durability") == "async") {
    return UnfitIndex{
        "index.translog.durability async: Elasticsearch acknowledges writes before they are on disk, and "
        "loses them when it is killed",
        "set it to request, or to null"};
  }
  for (const char* const policy :
       {"index.lifecycle.name", "index.plugins.index_state_management.policy_id"}) {
    const std::string its = text_at(settings, policy);
    if (its.empty()) continue;
    return UnfitIndex{"the lifecycle policy " + its + ", which may move or delete the index",
                      "take the policy away"};
  }
  return std::nullopt;
}

}  // namespace lockstep
