#include "replicator/elasticsearch/admin/privileges.h"

#include <array>

#include "replicator/elasticsearch/transport/json_fields.h"

namespace lockstep {
namespace {

using nlohmann::json;

// The fewest that suffice; `manage` would contain most of them.
constexpr std::array kIndexPrivileges = {"read",
                                         "write",
                                         "create_index",
                                         "view_index_metadata",
                                         "maintenance",
                                         "indices:admin/aliases",
                                         "indices:admin/mapping/put",
                                         "indices:admin/settings/update"};

// "write, create_index on posts" of {"read": true, "write": false, "create_index": false}.
void collect(const json& granted, const std::string& on, std::vector<std::string>& missing) {
  std::string names;
  for (const auto& privilege : granted.items()) {
    if (privilege.value() == false) names += (names.empty() ? "" : ", ") + privilege.key();
  }
  if (!names.empty()) missing.push_back(names + " on " + on);
}

}  // namespace

std::vector<std::string> missing_privileges(ElasticsearchClient& client,
                                            const std::vector<std::string>& aliases) {
  const std::string doing = "asking which privileges the user has";
  json names = json::array();
  for (const std::string& alias : aliases) {
    names.push_back(alias);
    names.push_back(alias + "-*");
  }
  const json question = {{"cluster", {"monitor"}},
                         {"index", {{{"names", names}, {"privileges", kIndexPrivileges}}}}};
  // Engines that do not know the question answer with one of these, depending on the version.
  const HttpResponse response = client.send(doing, "POST", "/_security/user/_has_privileges", question.dump(),
                                            {400, 404, 405, 500, 501});
  std::vector<std::string> missing;
  if (response.status != 200) return missing;
  const json answer = parse_reply(doing, response);
  collect(object_at(answer, "cluster"), "the cluster", missing);
  const json indices = object_at(answer, "index");
  for (const auto& index : indices.items()) collect(index.value(), index.key(), missing);
  return missing;
}

}  // namespace lockstep
