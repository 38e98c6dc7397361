// Works off the jobs beside the tail: gives them turns, one page a turn, each page from a fresh snapshot
// under its own version. What has been acknowledged survives a restart.
//
// Pages are read beside the tail (page_reader.h), those of an index with a routing on the leader's
// connection: its transaction also remembers where each document is (R1).
#pragma once

#include <cstdint>
#include <functional>
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
#include "replicator/pipeline/isolation/held_indices.h"
#include "replicator/pipeline/isolation/set_aside.h"
#include "replicator/pipeline/jobs/background_share.h"
#include "replicator/pipeline/jobs/page_reader.h"
#include "replicator/pipeline/jobs/rate_limit.h"
#include "replicator/pipeline/jobs/running_job.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class JobRunner {
 public:
  /// All references must outlive this. `open_client` opens those that the jobs ask Elasticsearch with.
  /// `write_lifetime_over`: from then on no write of an earlier leader can be on its way.
  /// `on_read` is called, from another thread, when a page was read beside the tail.
  JobRunner(const Config& config, const AppliedPipeline& pipeline, const SetAside& set_aside,
            const HeldIndices& held, ChangeLog& changes, DocumentWriter& writer, Checkpoint& checkpoint,
            VersionCounter& versions, ProgressBoard& board, OpenClient open_client,
            SteadyTime write_lifetime_over, std::function<void()> on_read);

  /// Ignores a job that it has already.
  void add(Job job);

  /// Adds a job for parked documents, which begins after a moment: what was in their way may still be.
  void add_parked(Job job, SteadyTime now);

  /// Forgets the jobs of an index as far as they are read here, so that add() takes them up again as the
  /// source has them. Call it when reading one of them has thrown a ViewError.
  void forget(IndexId index);

  /// Reads a page of the job whose turn it is, or begins to, or hands over the page that was read. True when
  /// it did something.
  bool turn();

  /// Whether a page is being read, or was read and is not handed over.
  bool has_page_in_hand() const { return being_read_ != nullptr || ready_.has_value(); }

  /// Whether the job is here and its end is not saved.
  bool has(JobId job) const;

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
    JobPage page;
  };

  std::unique_ptr<RunningJob> make(Job job, const AppliedIndex& index);
  void take(FanOutList list);
  bool has_room();
  RateLimit* limit_of(const RunningJob& job);
  bool waits_for_one_of_its_kind(const RunningJob& job) const;
  bool is_ready(RunningJob& job);
  PageLimits limits_of(RunningJob& job);
  bool read_page();
  bool read_page(RunningJob& job);
  std::optional<JobPage> read_here(RunningJob& job, const PageLimits& limits);
  bool take_page();
  /// The job whose page was being read. Null: it was forgotten meanwhile.
  RunningJob* end_reading();
  /// From where the source has it.
  void take_up_again(JobId id);
  void put_off(const RunningJob& job, const Error& error);
  void note(RunningJob& job, JobPage page);
  static void tell_end(const RunningJob& job, SteadyTime now);

  const AppliedPipeline& pipeline_;
  const SetAside& set_aside_;
  const HeldIndices& held_;
  ChangeLog& changes_;
  DocumentWriter& writer_;
  Checkpoint& checkpoint_;
  VersionCounter& versions_;
  ProgressBoard& board_;
  const OpenClient open_client_;
  const std::size_t most_requests_;  // in flight
  const SteadyTime write_lifetime_over_;
  BackgroundShare share_;
  std::list<std::unique_ptr<RunningJob>> jobs_;  // the front one has its turn
  std::map<JobId, SteadyTime> not_before_;       // of those that wait a moment
  std::map<JobId, std::string> troubles_;        // of those that a server does not answer
  std::map<IndexId, RateLimit> limits_;
  std::optional<ReadPage> ready_;
  std::set<CaptureId> unknown_captures_;
  std::unique_ptr<RunningJob> forgotten_;  // being read, and its page is not wanted any more
  RunningJob* being_read_ = nullptr;       // by reader_: one of jobs_, or forgotten_
  std::optional<ReadingNote> read_note_;   // of it
  std::unique_ptr<PageReader> reader_;     // null: the source has no connection for it; ends before the jobs
};

}  // namespace lockstep
