#include "replicator/elasticsearch/admin/cluster_change.h"

#include <nlohmann/json.hpp>

#include "replicator/error.h"

namespace lockstep {

void change_cluster(ElasticsearchClient& client, const std::string& doing, const std::string& method,
                    const std::string& path, std::string_view body) {
  const nlohmann::json reply = client.send_json(doing, method, path, body);
  const auto acknowledged = reply.find("acknowledged");
  if (acknowledged == reply.end() || !acknowledged->is_boolean()) {
    throw Error({doing, "the reply does not show whether all nodes have it: " + reply.dump().substr(0, 200),
                 "look for a proxy between lockstep and Elasticsearch"});
  }
  if (!acknowledged->get<bool>()) {
    throw Error({doing, "Elasticsearch has it, but not all of its nodes have it yet (acknowledged: false)",
                 "wait until they have, or have left the cluster, two minutes at most; then try again",
                 Retry::kLater, Server::kElasticsearch});
  }
}

}  // namespace lockstep
