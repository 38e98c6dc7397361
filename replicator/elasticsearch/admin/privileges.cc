#include "replicator/elasticsearch/admin/privileges.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* kDoing = "asking which privileges the user has";

// The fewest that suffice on Elasticsearch; `manage` would contain most of them.
constexpr std::array kIndexPrivileges = {"read",
                                         "write",
                                         "create_index",
                                         "delete_index",
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

constexpr int kForbidden = 403;

// No index has this name, so allowed requests find nothing or are refused as nonsense.
constexpr const char* kAbsent = "-lockstep-check-of-privileges";

struct Probe {
  const char* privilege;
  const char* method;
  const char* path;  // behind the index's name
  const char* body;
};

constexpr std::array kIndexProbes = {
    Probe{"indices:admin/get", "GET", "", ""},
    Probe{"indices:admin/create", "PUT", "", R"({"settings": {"number_of_shards": 0}})"},
    Probe{"indices:admin/delete", "DELETE", "", ""},
    Probe{"indices:admin/mapping/put", "PUT", "/_mapping", R"({"properties": {"none": {"type": "none"}}})"},
    Probe{"indices:admin/settings/update", "PUT", "/_settings", R"({"index.lockstep_check": 1})"},
    Probe{"indices:admin/refresh*", "POST", "/_refresh", ""},
    Probe{"indices:data/read/search", "POST", "/_search", R"({"size": 0})"},
};

constexpr std::array kClusterProbes = {
    Probe{"indices:data/read/mget", "POST", "/_mget",
          R"({"docs": [{"_index": "lockstep-check-of-privileges", "_id": "none"}]})"},
    Probe{"indices:data/read/scroll", "POST", "/_search/scroll", R"({"scroll_id": "none"})"},
    Probe{"indices:data/read/scroll/clear", "DELETE", "/_search/scroll", R"({"scroll_id": ["none"]})"},
};

HttpResponse try_out(ElasticsearchClient& client, const std::string& method, const std::string& path,
                     std::string_view body) {
  return client.send(kDoing, method, path, body, {400, kForbidden, 404, 405, 409, 500, 501, 503});
}

bool is_forbidden(ElasticsearchClient& client, const Probe& probe, const std::string& path) {
  return try_out(client, probe.method, path, probe.body).status == kForbidden;
}

// Writes that can never apply, to the alias. Each in a request of its own: a user who lacks the right to one
// of its items may write none of a request.
std::string missing_for_bulk(ElasticsearchClient& client, const std::string& alias) {
  std::vector<std::string> forbidden;
  for (const std::string action : {"index", "delete"}) {
    const json line = {{action,
                        {{"_index", alias},
                         {"_id", "lockstep-guard"},
                         {"if_seq_no", 9007199254740991},
                         {"if_primary_term", 1}}}};
    const HttpResponse response = try_out(client, "POST", "/_bulk?require_alias=true",
                                          line.dump() + (action == "index" ? "\n{}\n" : "\n"));
    if (response.status == kForbidden) return "indices:data/write/bulk on the cluster";
    for (const json& item : parse_reply(kDoing, response).value("items", json::array())) {
      if (item.at(action).value("status", 0) == kForbidden) forbidden.push_back(action);
    }
  }
  if (forbidden.empty()) return "";
  return "indices:data/write/" + (forbidden.size() > 1 ? "bulk*" : forbidden.front()) + " on " + alias;
}

std::string missing_for_aliases(ElasticsearchClient& client, const std::string& alias) {
  const json body = {{"actions", {{{"remove", {{"index", alias + kAbsent}, {"alias", alias + kAbsent}}}}}}};
  return try_out(client, "POST", "/_aliases", body.dump()).status == kForbidden ? "indices:admin/aliases"
                                                                                : "";
}

// "indices:admin/create, indices:admin/refresh* on posts-*"
void probe_index(ElasticsearchClient& client, const std::string& alias, std::vector<std::string>& missing) {
  std::string names = missing_for_aliases(client, alias);
  for (const Probe& probe : kIndexProbes) {
    if (!is_forbidden(client, probe, "/" + percent_encoded(alias + kAbsent) + probe.path)) continue;
    names += (names.empty() ? "" : ", ") + std::string(probe.privilege);
  }
  if (!names.empty()) missing.push_back(names + " on " + alias + "-*");
  const Probe& look_up = kIndexProbes[0];
  if (is_forbidden(client, look_up, "/" + percent_encoded(alias)))
    missing.push_back(std::string(look_up.privilege) + " on " + alias);
  if (std::string bulk = missing_for_bulk(client, alias); !bulk.empty()) missing.push_back(std::move(bulk));
}

bool is_secured_opensearch(ElasticsearchClient& client) {
  return try_out(client, "GET", "/_plugins/_security/authinfo", {}).status == 200;
}

std::vector<std::string> missing_by_probes(ElasticsearchClient& client,
                                           const std::vector<std::string>& aliases) {
  std::vector<std::string> missing;
  std::string names;
  for (const Probe& probe : kClusterProbes) {
    if (is_forbidden(client, probe, probe.path))
      names += (names.empty() ? "" : ", ") + std::string(probe.privilege);
  }
  if (!names.empty()) missing.push_back(names + " on the cluster");
  for (const std::string& alias : aliases) probe_index(client, alias, missing);
  return missing;
}

}  // namespace

std::vector<std::string> missing_privileges(ElasticsearchClient& client,
                                            const std::vector<std::string>& aliases) {
  json names = json::array();
  for (const std::string& alias : aliases) {
    names.push_back(alias);
    names.push_back(alias + "-*");
  }
  const json question = {{"cluster", {"monitor"}},
                         {"index", {{{"names", names}, {"privileges", kIndexPrivileges}}}}};
  // Engines that do not know the question answer with one of these, depending on the version.
  const HttpResponse response = client.send(kDoing, "POST", "/_security/user/_has_privileges",
                                            question.dump(), {400, 404, 405, 500, 501});
  std::vector<std::string> missing;
  if (response.status != 200)
    return is_secured_opensearch(client) ? missing_by_probes(client, aliases) : missing;
  const json answer = parse_reply(kDoing, response);
  collect(object_at(answer, "cluster"), "the cluster", missing);
  const json indices = object_at(answer, "index");
  for (const auto& index : indices.items()) collect(index.value(), index.key(), missing);
  return missing;
}

}  // namespace lockstep
