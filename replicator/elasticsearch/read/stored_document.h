// Documents as an index has them, and the place of one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "replicator/document_version.h"

namespace lockstep {

/// A document's place. `routing` is empty for none.
struct DocumentLocation {
  std::string_view id;
  std::string_view routing;
  std::size_t expected_bytes = 0;  ///< of its contents, by the view; 0: unknown
};

/// A document as the index has it. The views are only valid during the call.
struct StoredDocument {
  std::string_view id;
  /// The stored one. It may differ from the routing in the request: Elasticsearch looks for the id in the
  /// whole shard to which that routing leads.
  std::string_view routing;
  DocumentVersion version;  ///< of a document of ours; elsewhere a number of Elasticsearch's own
  std::string_view source;  ///< the JSON object byte by byte; empty if not asked for
};

using StoredDocumentSink = std::function<void(std::size_t, const std::optional<StoredDocument>&)>;

/// False for an impossible name: one such name would let the server refuse the whole request.
bool can_be_asked_for(const DocumentLocation& location);

}  // namespace lockstep
