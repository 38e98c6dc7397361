// Documents that Elasticsearch refused for good, as the source keeps them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/ids.h"

namespace lockstep {

struct DeadLetter {
  IndexId index;
  DocumentId id;
  std::string routing;  ///< empty: none
  DocumentVersion version;
  int status = 0;          ///< HTTP status of the refused write
  std::string error_type;  ///< Elasticsearch's `error.type`
  std::string reason;
};

struct StoredDeadLetter {
  DeadLetter letter;
  std::string first_at;  ///< when the document was first refused: ISO 8601, UTC
  std::string last_at;
  int tries = 1;  ///< how often it was refused
};

/// Matches the dead letters that fit everything that is given.
struct DeadLetterFilter {
  std::vector<IndexId> indices;  ///< of one of these
  DocumentIds ids;               ///< of one of these documents; empty: of any
  std::string error;  ///< of this error type, or with this text in the reason, ignoring case; empty: any
  std::optional<std::chrono::system_clock::time_point> since = {};  ///< last refused then or later
  std::optional<std::chrono::system_clock::time_point> until = {};  ///< last refused then or before
};

}  // namespace lockstep
