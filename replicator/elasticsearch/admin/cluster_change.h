// Changes of indices, mappings, settings and aliases, which every node of a cluster has to take.
#pragma once

#include <string>
#include <string_view>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// Sends a change, and returns when every node has it. Throws Error as the client does, and a retryable one
/// if the cluster has the change and some node does not have it yet ("acknowledged": false): until then that
/// node may index by the old mapping, or find the old index. The cluster parts with a node that lags for two
/// minutes.
void change_cluster(ElasticsearchClient& client, const std::string& doing, const std::string& method,
                    const std::string& path, std::string_view body = {});

}  // namespace lockstep
