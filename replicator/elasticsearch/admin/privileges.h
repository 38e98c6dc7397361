// Asks beforehand whether the user of [elasticsearch] may do what lockstep does. Engines without security,
// and those that cannot answer (OpenSearch), count as allowing everything.
#pragma once

#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// What the user lacks, a line for each thing: "monitor on the cluster", "create_index, write on posts-*".
/// Empty when nothing is missing or the engine does not say. Throws Error as the client does.
std::vector<std::string> missing_privileges(ElasticsearchClient& client,
                                            const std::vector<std::string>& aliases);

}  // namespace lockstep
