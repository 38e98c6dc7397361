// Finds the documents of fan-out jobs beside the tail, on a connection and in a thread of its own: for
// hundreds of thousands of documents that takes a second. They are found in a newer snapshot than the
// change's; what a document has stopped to depend on meanwhile has changed itself, and leads to it by its own
// tracks.
#pragma once

#include <cstdint>
#include <future>
#include <mutex>
#include <string>

#include "replicator/source/postgres/session/session.h"
#include "replicator/source/source.h"

namespace lockstep {

class PostgresExpansion {
 public:
  /// Connects when there is something to do.
  PostgresExpansion(SourceConfig source, std::string purpose)
      : source_(std::move(source)), purpose_(std::move(purpose)) {}
  /// Cancels what is being done; it is begun anew by whoever leads next.
  ~PostgresExpansion();
  PostgresExpansion(const PostgresExpansion&) = delete;
  PostgresExpansion& operator=(const PostgresExpansion&) = delete;

  /// Finds the job's documents, when nothing else is being done; returns their number when they are all
  /// there, and committed. Throws Error, ViewError when that will fail again.
  std::optional<std::int64_t> advance(const AppliedIndex& index, std::int64_t job);

  /// The job whose documents are being looked for; 0: none.
  std::int64_t job_in_hand() const { return documents_.valid() ? job_ : 0; }

 private:
  std::int64_t expand(const AppliedIndex& index, std::int64_t job);

  const SourceConfig source_;
  const std::string purpose_;
  std::mutex mutex_;
  std::unique_ptr<PostgresSession> session_;  // guarded by mutex_ but for its use by the thread
  bool is_cancelled_ = false;                 // guarded by mutex_
  std::int64_t job_ = 0;                      // in hand, while documents_ is valid
  std::future<std::int64_t> documents_;
};

}  // namespace lockstep
