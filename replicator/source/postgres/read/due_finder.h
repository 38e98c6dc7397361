// Finds the documents of due changes alongside the tail, on a connection and in a thread of its own: for
// hundreds of thousands of documents that takes a second.
//
// They come from a newer snapshot than the change. A document that no longer depends on the changed row
// has changed itself meanwhile, and its own tracks lead to it.
#pragma once

#include <optional>
#include <string>

#include "replicator/source/outbox/due.h"
#include "replicator/source/outbox/due_searches.h"
#include "replicator/source/postgres/read/pipeline.h"
#include "replicator/source/postgres/session/side_session.h"

namespace lockstep {

class PostgresDueFinder {
 public:
  /// Connects when there is work.
  PostgresDueFinder(const SourceConfig& source, const std::string& purpose) : session_(source, purpose) {}
  /// Cancels the search; the next leader does it again.
  ~PostgresDueFinder();
  PostgresDueFinder(const PostgresDueFinder&) = delete;
  PostgresDueFinder& operator=(const PostgresDueFinder&) = delete;

  /// As ChangeLog::find_due(). Throws Error; ViewError if it would fail again.
  std::optional<FoundDue> advance(const PostgresPipeline& pipeline, const PostgresIndex& index);

 private:
  FoundDue find(const PostgresPipeline& pipeline, const PostgresIndex& index);

  PostgresSideSession session_;
  DueSearches searches_;
};

}  // namespace lockstep
