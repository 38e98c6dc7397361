// The parts of a leader, and their references to one another: composed here and nowhere else, so that the
// service, commands and tests run the same pipeline. Which thread runs what: replicator/README.md.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "replicator/backoff.h"
#include "replicator/clock.h"
#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/pipeline/checkpoint.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/foreign_writes.h"
#include "replicator/pipeline/isolation/standing.h"
#include "replicator/pipeline/jobs/job_runner.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/pipeline/progress_report.h"
#include "replicator/pipeline/refresher.h"
#include "replicator/pipeline/reindexing.h"
#include "replicator/pipeline/tail.h"
#include "replicator/pipeline/target_watch.h"
#include "replicator/pipeline/wake_up.h"
#include "replicator/source/source.h"

namespace lockstep {

/// A leadership that ended with no request in flight.
struct QuietEnd {
  Epoch epoch;
  SteadyTime late_writes_land;  ///< those without an answer, of it or of leaders before it, until then
};

/// The world outside: all of it must outlive the leader. `source` leads (Lead::try_lead).
struct LeaderWorld {
  const Config& config;
  Source& source;
  const BulkWriter::TransportFactory& make_transport;
  ProgressBoard& board;
  const Clock& clock;  ///< of the document writer
  /// Of the last leadership of this process; a process that leads once needs none.
  std::optional<QuietEnd>* last_end = nullptr;
};

/// So soon a write that was sent and not answered has landed, as a rule: sweeps wait for that.
std::chrono::milliseconds likely_within(const Config& config);

/// Until when writes of earlier leaders land.
struct EarlierWrites {
  SteadyTime likely_land{};  ///< as a rule; sweeps wait for that
  SteadyTime land{};         ///< at the latest; until then deletions are repeated
};

/// How long it waits for Elasticsearch, and how often it asks again.
struct LeaderPatience {
  std::chrono::milliseconds with_document{2'000};  ///< while its index takes others
  std::chrono::milliseconds slow_request{1'000};   ///< BulkWriter::Options::slow_request
  Backoff::Limits bulk_backoff;
  Standing::Patience with_index = {};
  /// EarlierWrites, both of them. None: as in the source and the configuration.
  std::optional<SteadyTime> earlier_writes_land = {};
};

/// Constructing it makes this process the pipeline's leader: raises the epoch (leadership.h) and takes up the
/// existing jobs. The members are in the order in which they come to life.
struct LeaderParts {
  LeaderParts(const LeaderWorld& of, const LeaderPatience& patience);
  ~LeaderParts() = default;
  LeaderParts(const LeaderParts&) = delete;
  LeaderParts& operator=(const LeaderParts&) = delete;

  const LeaderWorld world;
  ChangeLog& changes;
  const AppliedPipeline pipeline;  ///< a copy: threads read it, and the source may reload its own
  ElasticsearchClient elasticsearch;
  const EarlierWrites earlier;
  const TakenLead lead;
  VersionCounter versions;
  TargetWatch targets;
  WakeUp wake_up;  ///< outlives its callers in other threads
  BulkWriter bulks;
  std::optional<Refresher> refresher;  ///< for replication.refresh = "after_batch"
  DocumentWriter writer;
  ForeignWrites foreign;
  Checkpoint checkpoint;
  Standing standing;
  JobRunner jobs;
  Tail tail;
  Reindexing reindexing;
  ProgressReport report;

 private:
  void connect();
};

}  // namespace lockstep
