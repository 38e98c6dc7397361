// A job that this process works on. There is one class for each kind of job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "replicator/clock.h"
#include "replicator/pipeline/jobs/paged_work.h"
#include "replicator/pipeline/progress.h"
#include "replicator/source/outbox/job.h"
#include "replicator/source/reindexes.h"

namespace lockstep {

class RunningJob : public PagedWork {
 public:
  /// `index` must outlive this.
  RunningJob(Job job, const AppliedIndex& index);
  JobId id() const { return job_.id; }
  JobKind kind() const { return job_.kind; }
  Lane lane() const override { return Lane::of(job_.id); }
  std::string name() const override;
  JobStatus status() const;

  bool has_begun() const override { return begun_; }

  /// A limit slows it, so that it measures nothing.
  void note_limit() { limited_ = true; }

  /// Whether only time has to pass before it continues. Any thread may ask.
  virtual bool rests() const { return false; }

  /// How fast this process has done it, until now. None: it was limited, or another process did most of it.
  std::optional<Pace> pace(SteadyTime now) const;

  /// For how long this process has had it.
  std::chrono::milliseconds age(SteadyTime now) const;

  /// For the log, once it is done: "the backfill of posts is done: 200000 documents in 12.3 s".
  std::string text_of_end(SteadyTime now) const;

  bool all_read() const override { return all_read_; }
  void note(const PageEnd& page) override;
  void begin(SourceTransaction& transaction) override;
  PageEnd read_page(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;

 protected:
  /// Reads the page, and calls move_to() and finish_reading(). Returns how many documents of the job are done
  /// with it.
  virtual std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                            const PageLimits& limits) = 0;

  const Job& job() const { return job_; }

  /// Everything up to here has been read. Never NotBegun: this process has begun.
  const JobPosition& position() const { return position_; }
  void move_to(JobPosition position) { position_ = std::move(position); }
  void finish_reading() { all_read_ = true; }

  /// The document after which a job over a view continues. None: it begins with the first one.
  std::optional<DocumentId> last_document() const;

 private:
  Job job_;
  const SteadyTime taken_up_at_ = steady_now();
  JobPosition position_;
  bool begun_ = false;  // by this process, and in the source
  bool all_read_ = false;
  bool limited_ = false;
  bool has_estimated_ = false;          // its total, once
  std::atomic<std::int64_t> read_ = 0;  // documents, by this process; another thread may ask for status()
};

}  // namespace lockstep
