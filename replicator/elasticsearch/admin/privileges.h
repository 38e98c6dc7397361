// Whether the user of [elasticsearch] may do what lockstep does, asked before it does it. Engines without
// security, and those whose security cannot be asked (OpenSearch), allow everything as far as this knows.
#pragma once

#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// What the user lacks, a line for each thing: "monitor on the cluster", "create_index, write on posts-*";
/// empty when nothing or not known. Throws Error as the client does.
std::vector<std::string> missing_privileges(ElasticsearchClient& client,
                                            const std::vector<std::string>& aliases);

}  // namespace lockstep
