// Does the work next to the tail, the jobs and the due documents: gives each turns, one page a turn, each
// page from a fresh snapshot under its own version. Acknowledged work survives a restart.
//
// Pages are read alongside the tail (page_reader.h), those of an index with a routing on the leader's
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

#include "replicator/clock.h"
#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/pipeline/checkpoint.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/isolation/standing.h"
#include "replicator/pipeline/jobs/background_share.h"
#include "replicator/pipeline/jobs/due_work.h"
#include "replicator/pipeline/jobs/page_reader.h"
#include "replicator/pipeline/jobs/rate_limit.h"
#include "replicator/pipeline/jobs/running_job.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class JobRunner {
 public:
  /// All references must outlive this. `open_client` opens the jobs' clients of Elasticsearch.
  /// `write_lifetime_over`: from then on no write of an earlier leader can be on its way. `on_read` is
  /// called, from another thread, after a page was read alongside the tail.
  JobRunner(const Config& config, const AppliedPipeline& pipeline, const Standing& standing,
            ChangeLog& changes, DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions,
            ProgressBoard& board, OpenClient open_client, SteadyTime write_lifetime_over,
            std::function<void()> on_read);

  /// Ignores a job that it has already.
  void add(Job job);

  /// Takes note of a commit's additions.
  void add(Committed committed);

  /// The due lists, as the source has them.
  void note_due(const std::vector<DueList>& lists);

  /// Whether any document of the index is due.
  bool is_due(IndexId index) const { return due_.at(index)->is_due(); }

  /// Whether a document of the index may have been due at that time already.
  bool is_due_since(IndexId index, SteadyTime time) const { return due_.at(index)->is_due_since(time); }

  /// A small change was written while so many requests of jobs were in flight.
  void hear_small_change(std::chrono::microseconds took, std::size_t beside) {
    share_.small_change_took(took, beside, steady_now());
  }

  /// Forgets the work read here of an index, so that add() takes its jobs up again as the source has them.
  /// Call it if reading one of its pages has thrown a ViewError.
  void forget(IndexId index);

  /// Reads a page of the job whose turn it is, or begins to, or hands over the page that was read. True if it
  /// did any of these.
  bool turn();

  /// Whether a page is being read, or was read and is not handed over.
  bool has_page_in_hand() const { return being_read_ != nullptr || ready_.has_value(); }

  /// Whether a page was read and has waited so long for room in Elasticsearch that the tail leaves it the
  /// next place.
  bool page_goes_first() const;

  /// Whether the job is here and its end is not saved.
  bool has(JobId job) const;

  /// Whether every job is acknowledged and its end saved, and no document is due, apart from paused indices.
  bool all_done() const { return all_done_since(SteadyTime::max()); }

  /// The same, apart from work that has become due later than that.
  bool all_done_since(SteadyTime time) const;

  /// The documents of these indices that their backfills and comparisons may read in a second; those of all
  /// others are unlimited.
  void limit_rates(const std::map<IndexId, std::int64_t>& rates, SteadyTime now);

  /// The speed of a job over a whole index.
  struct Measured {
    IndexId index;
    JobKind kind = JobKind::kBackfill;
    Pace pace;
  };

  /// Forgets the jobs and pages that a save has finished, and returns the jobs' measurements. Call it after
  /// each save.
  std::vector<Measured> saved(const Acknowledged& acknowledged);

  /// Why work on the index cannot continue now; empty: it can, or waits for others.
  std::string trouble(IndexId index) const;

  /// "the backfill of posts cannot go on: …"
  std::vector<std::string> troubles() const;

  /// For `status`: oldest first.
  std::vector<std::pair<IndexId, JobStatus>> progress() const;

  /// An index's due work; for `status`.
  const DueWork& due(IndexId index) const { return *due_.at(index); }

  /// As Tail::unknown_captures(), of rows of large transactions.
  const std::set<CaptureId>& unknown_captures() const { return unknown_captures_; }

 private:
  /// A page that waits until Elasticsearch has room.
  struct ReadPage {
    Lane lane;
    PageInStep page;
    SteadyTime since;
  };

  std::unique_ptr<RunningJob> make(Job job, const AppliedIndex& index);
  void add_due(const AppliedIndex& index);
  void take(FoundDue found);
  bool has_room();
  RateLimit* limit_of(const PagedWork& work);
  bool waits_for_one_of_its_kind(const PagedWork& work) const;
  bool is_ready(PagedWork& work);
  PageLimits limits_of(PagedWork& work);
  bool read_page();
  bool read_page(PagedWork& work);
  std::optional<PageInStep> read_here(PagedWork& work, const PageLimits& limits);
  bool take_page();
  /// The work whose page was being read. Null: it was forgotten meanwhile.
  PagedWork* end_reading();
  /// As the source has it, whatever it had in hand. Null: it no longer exists.
  PagedWork* take_up_again(Lane lane);
  void note(PagedWork& work, PageInStep page);
  std::unique_ptr<PagedWork> extract(Lane lane);
  static void tell_end(const RunningJob& job, SteadyTime now);

  const AppliedPipeline& pipeline_;
  const Standing& standing_;
  ChangeLog& changes_;
  DocumentWriter& writer_;
  Checkpoint& checkpoint_;
  VersionCounter& versions_;
  ProgressBoard& board_;
  const OpenClient open_client_;
  const std::size_t most_requests_;  // in flight
  const SteadyTime write_lifetime_over_;
  const std::int64_t bulk_bytes_;
  BackgroundShare share_;
  std::uint64_t pages_read_ = 0;
  std::list<std::unique_ptr<PagedWork>> work_;  // the front one has its turn
  std::map<JobId, RunningJob*> jobs_;           // of work_
  std::map<IndexId, DueWork*> due_;             // likewise, of each index
  std::map<IndexId, RateLimit> limits_;
  std::optional<ReadPage> ready_;
  std::set<CaptureId> unknown_captures_;
  std::unique_ptr<PagedWork> forgotten_;  // being read, and its page is not wanted any more
  PagedWork* being_read_ = nullptr;       // by reader_: one of work_, or forgotten_
  std::optional<ReadingNote> read_note_;  // of it
  std::unique_ptr<PageReader> reader_;    // null: the source has no connection for it; ends before the work
};

}  // namespace lockstep
