// Writes the replication loop's state to the board.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/isolation/standing.h"
#include "replicator/pipeline/jobs/job_runner.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/tail.h"
#include "replicator/source/source.h"

namespace lockstep {

class ProgressReport {
 public:
  /// Its collaborators. All must outlive it.
  struct Parts {
    const AppliedPipeline& pipeline;
    Source& source;
    BulkWriter& bulks;
    DocumentWriter& writer;
    const Standing& standing;
    const JobRunner& jobs;
    const Tail& tail;
  };

  /// Counters continue from those of `board`, whose indices end that the pipeline no longer has.
  ProgressReport(Parts parts, Epoch epoch, ProgressBoard& board);

  /// Counts an index's dead letters in the source, passes the count to board and writer, and returns it.
  /// REQUIRES: no transaction is open.
  std::int64_t count_dead_letters(IndexId index);

  /// The next update() counts the dead letters of these indices: the save may have changed them.
  void note_saved(const Acknowledged& saved);

  /// The next update() counts the dead letters of all indices that have some: others may have discarded them.
  void recount_dead_letters();

  /// The board shows these, and no others, as unreadable jobs.
  void note_unreadable(const std::vector<UnreadableJob>& jobs);

  /// Aliases that do not point to the index that searchers should see, in words. Warns of them, of jobs that
  /// cannot continue, and of a request that Elasticsearch does not answer, at once.
  void note_troubles(const std::vector<std::string>& misplaced);

  /// Asks the source for the size of the outbox.
  void measure_outbox();

  /// Asks the source for its changes since the last `apply`, and for leftovers. Logs new ones.
  void find_differences();

  /// Writes everything else.
  void update();

 private:
  const Parts parts_;
  const Epoch epoch_;
  ProgressBoard& board_;
  const std::int64_t rows_before_;
  const std::int64_t batches_before_;
  std::vector<std::string> troubles_;  // that a person has to see to
  std::set<IndexId> to_count_;         // indices whose dead letters may have changed
};

}  // namespace lockstep
