// Reads one document by its id, as it was last written, refreshed or not.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// Returns the whole reply, with _source, _seq_no and _primary_term; none if the index has no such document.
/// Throws Error as the client does, also if the index does not exist.
std::optional<nlohmann::json> get_document(ElasticsearchClient& client, const std::string& doing,
                                           const std::string& index, const std::string& id);

}  // namespace lockstep
