// A relational database as the origin of one pipeline, whichever database it is.
//
// A database implements these contracts, one for each caller: Source, with its parts,
//
//   ChangeLog, SourceTransaction   the readers of changes: the tail, the checkpoint, jobs
//   SourceSnapshot                 readers: `verify`, paused indices, `dead-letters`
//   Lead                           the leader
//   DeadLetterBox                  dead letters, for people
//   OutboxMaintenance              pruning, the outbox's limit, missing triggers
//   Reindexes                      indices that get a second generation
//
// and five that have a connection of their own:
//
//   AppliedWatch, AppliedPoint     `wait`, without leading
//   StatusReader                   `status`, without leading (pipeline_status.h)
//   StatusWriter                   the leader's report about itself
//   SourceDefinition               `check`, `plan`, `apply`, `remove`
//   ViewReader                     `adopt`, before anything is applied
//
// It shares the rest of this folder and outbox/, and implements none of it: the values that the contracts
// speak of (applied.h, TransactionId, PlanStep and Finding in definition.h), the texts in which the kinds and
// positions of jobs are stored (outbox/job.h), awaited_work.h, migration.h, checksum.h. Only open_source.cc
// asks which database it is.
#pragma once

#include <string>

#include "replicator/source/applied.h"
#include "replicator/source/change_log.h"
#include "replicator/source/dead_letter_box.h"
#include "replicator/source/lead.h"
#include "replicator/source/outbox_maintenance.h"
#include "replicator/source/reindexes.h"

namespace lockstep {

/// One connection, for one thread. Its parts live as long as it does.
class Source {
 public:
  virtual ~Source() = default;

  /// The applied pipeline, as of opening or the last reload().
  virtual const AppliedPipeline& pipeline() const = 0;

  /// Loads pipeline() again. Throws UsageError if the pipeline is no longer applied.
  virtual void reload() = 0;

  /// AppliedPipeline::revision as it is now.
  virtual std::string revision() = 0;

  virtual Lead& lead() = 0;
  virtual ChangeLog& changes() = 0;
  virtual DeadLetterBox& dead_letters() = 0;
  virtual OutboxMaintenance& outbox() = 0;
  virtual Reindexes& reindexes() = 0;
};

}  // namespace lockstep
