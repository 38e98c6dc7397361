// Which changes an index takes in place is known to its engine alone, and differs between engines and
// versions. So they are tried before anything is changed: on an empty index like it, hidden and without
// aliases, which is deleted at once.
#pragma once

#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_mapping.h"

namespace lockstep {

/// Settles each difference of Way::kUnknown between the wanted `mappings` and `index`: kInPlace or kNewIndex.
/// Asks nothing if there is none. Throws Error if the empty index cannot be created.
void settle_ways(ElasticsearchClient& client, const std::string& alias, const IndexState& index,
                 const nlohmann::json& mappings, std::vector<MappingDifference>& differences);

}  // namespace lockstep
