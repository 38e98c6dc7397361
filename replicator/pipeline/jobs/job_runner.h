// Works off the jobs beside the tail: gives them turns, one page a turn, each page from a fresh snapshot
// under its own version. What has been acknowledged survives a restart.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/pipeline/checkpoint.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/held_indices.h"
#include "replicator/pipeline/jobs/background_share.h"
#include "replicator/pipeline/jobs/rate_limit.h"
#include "replicator/pipeline/jobs/running_job.h"
#include "replicator/pipeline/set_aside.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class JobRunner {
 public:
  /// All references must outlive this.
  /// `write_lifetime_over`: from then on no write of an earlier leader can be on its way.
  JobRunner(const Config& config, const AppliedPipeline& pipeline, const SetAside& set_aside,
            const HeldIndices& held, ChangeLog& changes, DocumentWriter& writer, Checkpoint& checkpoint,
            VersionCounter& versions, ElasticsearchClient& elasticsearch, SteadyTime write_lifetime_over);

  /// Ignores a job that it has already.
  void add(Job job);

  /// Adds a job for parked documents, which begins after a moment: what was in their way may still be.
  void add_parked(Job job, SteadyTime now);

  /// Forgets the jobs of an index as far as they are read here, so that add() takes them up again as the
  /// source has them. Call it when reading one of them has thrown a ViewError.
  void forget(IndexId index);

  /// Reads a page of the job whose turn it is, or hands over the page that was read, or both. True when it
  /// did something.
  bool turn();

  /// Whether every job is acknowledged and its end saved, apart from jobs of indices that are set aside.
  bool all_done() const;

  /// How many documents of these indices their backfills and comparisons may read in a second; of all others,
  /// as many as they can.
  void limit_rates(const std::map<IndexId, std::int64_t>& rates, SteadyTime now);

  /// How fast a job over a whole index was.
  struct Measured {
    IndexId index;
    JobKind kind = JobKind::kBackfill;
    Pace pace;
  };

  /// Forgets the jobs that a save has finished, and returns what they have measured. Call it after each save.
  std::vector<Measured> saved(const Acknowledged& acknowledged);

  /// Why a job of the index cannot go on now; empty: each can, or waits for what others say.
  std::string trouble(IndexId index) const;

  /// For `status`: oldest first.
  std::vector<std::pair<IndexId, JobStatus>> progress() const;

  /// As Tail::unknown_captures(), of rows of large transactions.
  const std::set<CaptureId>& unknown_captures() const { return unknown_captures_; }

 private:
  /// A page that waits until Elasticsearch has room.
  struct ReadPage {
    Lane lane;
    StepDocuments documents;
    StepEnd end;
  };

  std::unique_ptr<RunningJob> make(Job job, const AppliedIndex& index);
  bool has(JobId job) const;
  void take(FanOutList list);
  bool has_room();
  RateLimit* limit_of(const RunningJob& job);
  bool is_ready(RunningJob& job);
  bool look_ahead(RunningJob& job, const PageLimits& limits);
  bool read_page();
  bool read_page(RunningJob& job);

  const AppliedPipeline& pipeline_;
  const SetAside& set_aside_;
  const HeldIndices& held_;
  ChangeLog& changes_;
  DocumentWriter& writer_;
  Checkpoint& checkpoint_;
  VersionCounter& versions_;
  ElasticsearchClient& elasticsearch_;
  const std::size_t most_requests_;  // in flight
  const SteadyTime write_lifetime_over_;
  BackgroundShare share_;
  std::list<std::unique_ptr<RunningJob>> jobs_;  // the front one has its turn
  std::map<JobId, SteadyTime> not_before_;       // of those that wait a moment
  std::map<JobId, std::string> troubles_;        // of those that Elasticsearch does not answer
  std::map<IndexId, RateLimit> limits_;
  std::optional<ReadPage> ready_;
  std::set<CaptureId> unknown_captures_;
};

}  // namespace lockstep
