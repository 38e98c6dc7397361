// The acknowledgements of Elasticsearch since the last save: the content of one checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/source/outbox/change.h"
#include "replicator/source/outbox/dead_letter.h"
#include "replicator/source/outbox/due.h"
#include "replicator/source/outbox/job.h"

namespace lockstep {

/// A write of a document that Elasticsearch has acknowledged.
struct AcknowledgedWrite {
  IndexId index;
  DocumentId id;
  std::string routing;  ///< empty: none
  DocumentVersion version;
};

struct Acknowledged {
  std::optional<Position> position;  ///< none: the tail has not moved
  std::vector<JobProgress> jobs;
  std::vector<WrittenPage> written_pages;  ///< of due documents
  std::vector<DeadLetter> refused;
  std::vector<AcknowledgedWrite> no_longer_refused;  ///< applied now: older dead letters go
  std::vector<AcknowledgedWrite> gone_routes;        ///< deleted under this routing, which is forgotten
  std::map<IndexId, std::int64_t> documents;         ///< documents with an outcome
};

}  // namespace lockstep
