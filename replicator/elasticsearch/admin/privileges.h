// Asks beforehand whether the user of [elasticsearch] has the privileges that Lockstep needs. Engines without
// security count as allowing everything.
#pragma once

#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// Privileges that the user lacks, a line for each: "monitor on the cluster", "create_index, write on
/// posts-*". Empty if none is missing or the engine does not report them. Changes nothing. Throws Error as
/// the client does.
///
/// Elasticsearch answers the question. OpenSearch cannot: each of its actions is tried, in a form that fails
/// if it is allowed, and is missing when the answer is 403.
std::vector<std::string> missing_privileges(ElasticsearchClient& client,
                                            const std::vector<std::string>& aliases);

}  // namespace lockstep
