// Versions of documents as the index has them, and the removal of one that cannot be overwritten.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/stored_document.h"

namespace lockstep {

/// One state of a document in an index.
struct StoredVersion {
  DocumentVersion version;
  std::int64_t seq_no = 0;  ///< with primary_term it names this state and no other
  std::int64_t primary_term = 0;
};

/// Looks up `wanted`; none if the index has no such document, which may still have the version of its
/// removal. Sees all writes, refreshed or not. Throws Error as the client does.
std::vector<std::optional<StoredVersion>> stored_versions(ElasticsearchClient& client,
                                                          const std::string& alias,
                                                          std::span<const DocumentLocation> wanted);

/// Removes a document, of any version, unless it has changed since `state`. Throws Error as the client does.
void remove_if_unchanged(ElasticsearchClient& client, const std::string& alias,
                         const DocumentLocation& document, const StoredVersion& state);

}  // namespace lockstep
