#include "replicator/elasticsearch/admin/trial_index.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "replicator/elasticsearch/admin/temporary_index.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;
using Way = MappingDifference::Way;

/// The settings on which it depends what an index takes.
json settings_for_trial(const json& settings) {
  static constexpr std::array<std::string_view, 8> kKept = {
      "index.analysis.", "index.similarity.", "index.mapping.", "index.sort.",
      "index.mode",      "index.routing_",    "index.max_",     "index.number_of_"};
  json kept = json::object();
  for (const auto& setting : settings.items()) {
    const auto begins_it = [&](std::string_view name) { return setting.key().starts_with(name); };
    if (std::any_of(kKept.begin(), kKept.end(), begins_it)) kept[setting.key()] = setting.value();
  }
  kept["index.number_of_replicas"] = "0";
  kept["index.hidden"] = "true";
  return kept;
}

class TrialIndex {
 public:
  TrialIndex(ElasticsearchClient& client, const std::string& alias, const IndexState& index)
      : client_(client), temporary_(client, alias), path_("/" + percent_encoded(temporary_.name())) {
    json mappings = index.mappings;
    mappings.erase("_meta");  // it has no owner
    const json body = {{"settings", settings_for_trial(index.settings)}, {"mappings", std::move(mappings)}};
    client_.send("creating index " + temporary_.name() + ", to try the changes of " + index.name, "PUT",
                 path_ + "?wait_for_active_shards=0", body.dump());
  }

  bool takes_mapping(const json& change) { return takes("/_mapping", change); }
  bool takes_settings(const json& change) { return takes("/_settings", change); }

  bool takes(const MappingDifference& difference) {
    return difference.is_setting() ? takes_settings(difference.change) : takes_mapping(difference.change);
  }

 private:
  bool takes(const char* part, const json& change) {
    const std::string doing = "trying a change on index " + temporary_.name();
    const HttpResponse response = client_.send(doing, "PUT", path_ + part, change.dump(), {400, 500});
    if (response.status == 500) {
      // Elasticsearch 7 refuses some changes so, "enabled" of an object for one.
      const std::string type = text_at(object_at(parse_reply(doing, response), "error"), "type");
      if (type != "mapper_exception") throw reply_error(doing, response);
    }
    return response.status < 300;
  }

  ElasticsearchClient& client_;
  TemporaryIndex temporary_;
  const std::string path_;
};

bool is_unknown(const MappingDifference& difference) {
  return difference.way == Way::kUnknown;
}

}  // namespace

void settle_ways(ElasticsearchClient& client, const std::string& alias, const IndexState& index,
                 const json& mappings, std::vector<MappingDifference>& differences) {
  if (std::none_of(differences.begin(), differences.end(), is_unknown)) return;
  TrialIndex trial(client, alias, index);
  json settings = json::object();
  for (const MappingDifference& difference : differences) {
    if (difference.is_setting() && is_unknown(difference)) settings.update(difference.change);
  }
  const bool takes_all =
      (settings.empty() || trial.takes_settings(settings)) && trial.takes_mapping(mappings);
  for (MappingDifference& difference : differences) {
    if (is_unknown(difference))
      difference.way = takes_all || trial.takes(difference) ? Way::kInPlace : Way::kNewIndex;
  }
}

}  // namespace lockstep
