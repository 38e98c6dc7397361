// A job that this process works on: it reads one page in a transaction and says how far it is. There is one
// class for each kind of job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/step_documents.h"
#include "replicator/source/outbox/job.h"
#include "replicator/source/reindexes.h"
#include "replicator/source/transaction.h"

namespace lockstep {

/// How much a page holds.
struct PageLimits {
  std::int64_t documents = 0;  ///< at most
  std::int64_t bytes = 0;      ///< about
  std::size_t ahead = 1;       ///< pages that a job may ask Elasticsearch for at a time
};

/// Opens a client for what a job asks beside everything else.
using OpenClient = std::function<std::shared_ptr<ElasticsearchClient>()>;

/// What a job may ask before a page's transaction is opened. It does so in the thread that reads the page.
struct LookAhead {
  std::function<std::unique_ptr<SourceSnapshot>()> read;  ///< opens a snapshot
  OpenClient open_client;                                 ///< the job keeps it, and nobody else has it
  bool may_wait;  ///< for what it has asked; else others wait for this thread
};

class RunningJob {
 public:
  /// `index` must outlive this.
  RunningJob(Job job, const AppliedIndex& index);
  virtual ~RunningJob() = default;
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;

  JobId id() const { return job_.id; }
  JobKind kind() const { return job_.kind; }
  const AppliedIndex& index() const { return index_; }
  JobStatus status() const;

  /// Whether this process has called begin().
  bool has_begun() const { return begun_; }

  /// A limit slows it, so that it measures nothing.
  void note_limit() { limited_ = true; }

  /// How fast this process has done it, until now. None: it was limited, or somebody else did most of it.
  std::optional<Pace> pace(SteadyTime now) const;

  /// For how long this process has had it.
  std::chrono::milliseconds age(SteadyTime now) const;

  /// For the log, once it is done: "the backfill of posts is done: 200000 documents in 12.3 s".
  std::string text_of_end(SteadyTime now) const;

  /// Whether nothing is left to read.
  bool all_read() const { return all_read_; }

  /// Whether pages can be read. False: ask again later. REQUIRES: no transaction is open.
  virtual bool is_ready() { return true; }

  /// Whether it asks Elasticsearch next for what its pages have written, so that they must have their
  /// outcomes before it is called again.
  virtual bool awaits_outcomes() const { return false; }

  /// Whether the outbox keeps rows for it. Such a job is asked whether it is ready even when its index takes
  /// nothing now: is_ready() reads these rows.
  virtual bool keeps_rows() const { return false; }

  /// Asks Elasticsearch what the next page needs to know, before a transaction is opened that would have to
  /// wait for the answer. False, only where it may not wait: it has not answered yet; call it again later.
  /// REQUIRES: is_ready(), not all_read(), no transaction is open.
  virtual bool look_ahead(const LookAhead& /*ask*/, const PageLimits& /*limits*/) { return true; }

  /// What a page has said of the whole job. REQUIRES: no page of it is being read.
  void note(const JobProgress& progress);

  /// Marks the job as begun in the source, unless this process has done so.
  void begin(SourceTransaction& transaction);

  /// Reads the next page, adds its documents, and returns how far the job is once they are acknowledged.
  /// REQUIRES: begin() was called, and look_ahead() has returned true for this page.
  JobProgress read_page(SourceTransaction& transaction, StepDocuments& documents, const PageLimits& limits);

 protected:
  /// Reads the page, and calls move_to() and finish_reading(). Returns how many documents of the job are done
  /// with it.
  virtual std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                            const PageLimits& limits) = 0;

  const Job& job() const { return job_; }
  void set_total(std::int64_t documents) { job_.total = documents; }

  /// Everything up to here has been read. Never NotBegun: this process has begun.
  const JobPosition& position() const { return position_; }
  void move_to(JobPosition position) { position_ = std::move(position); }
  void finish_reading() { all_read_ = true; }

  /// The document behind which a job over a view goes on. None: it begins with the first one.
  std::optional<DocumentId> last_document() const;

 private:
  Job job_;
  const AppliedIndex& index_;
  const SteadyTime taken_up_at_ = std::chrono::steady_clock::now();
  JobPosition position_;
  bool begun_ = false;  // by this process, and in the source
  bool all_read_ = false;
  bool limited_ = false;
  bool has_estimated_ = false;          // its total, once
  std::atomic<std::int64_t> read_ = 0;  // documents, by this process; another thread may ask for status()
};

}  // namespace lockstep
