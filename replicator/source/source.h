// A relational database as the origin of one pipeline, whichever database it is. What a second database has
// to implement is this folder, without its subfolders: this class hands out one contract for each caller.
//
//   change_log.h, transaction.h   what reads changes: the tail, the checkpoint, jobs
//   snapshot.h                    what only reads: `verify`, the set-aside, `dead-letters`
//   lead.h                        who leads
//   dead_letter_box.h             dead letters, for people
//   outbox_care.h                 pruning, the outbox's limit, missing triggers
//   applied_watch.h               `wait`, without leading
//   pipeline_status.h             `status`, without leading
//   source_definition.h           `check`, `plan`, `apply`, `remove`
#pragma once

#include <memory>
#include <string>

#include "replicator/config/config.h"
#include "replicator/source/applied.h"
#include "replicator/source/change_log.h"
#include "replicator/source/dead_letter_box.h"
#include "replicator/source/lead.h"
#include "replicator/source/outbox_care.h"

namespace lockstep {

/// What the leader publishes about itself for `status`.
struct PublishedStatus {
  std::string state;
  std::string reason;
  std::string document;  ///< JSON
};

/// One connection, for one thread. What it hands out lives as long as it does.
class Source {
 public:
  virtual ~Source() = default;

  /// What `apply` has left, as of opening or the last reload().
  virtual const AppliedPipeline& pipeline() const = 0;

  /// Loads pipeline() anew. Throws UsageError when the pipeline is no longer applied.
  virtual void reload() = 0;

  /// AppliedPipeline::revision as it is now.
  virtual std::string revision() = 0;

  virtual Lead& lead() = 0;
  virtual ChangeLog& changes() = 0;
  virtual DeadLetterBox& dead_letters() = 0;
  virtual OutboxCare& outbox() = 0;

  virtual void publish(const PublishedStatus& status) = 0;
};

/// Connects and loads the pipeline. `purpose` names the connection in the database's list of sessions
/// ("tail", "status"). Throws UsageError when the pipeline was never applied or this build does not know such
/// a source, Error when the source cannot be reached.
std::unique_ptr<Source> open_source(const Config& config, const std::string& purpose);

}  // namespace lockstep
