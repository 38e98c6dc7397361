// Work next to the tail, done a page at a time, each page from a fresh snapshot under its own version: a job,
// or an index's due documents.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replicator/clock.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/pipeline/acknowledgements.h"
#include "replicator/pipeline/step_documents.h"
#include "replicator/source/transaction.h"

namespace lockstep {

/// The limits of a page.
struct PageLimits {
  std::int64_t documents = 0;  ///< at most
  std::int64_t bytes = 0;      ///< about
  std::size_t ahead = 1;       ///< pages that a job may ask Elasticsearch for at a time
};

/// Opens a client for a job's own requests.
using OpenClient = std::function<std::shared_ptr<ElasticsearchClient>()>;

/// A job's means of asking before a page's transaction is opened. It asks in the thread that reads the page.
struct LookAhead {
  std::function<std::unique_ptr<SourceSnapshot>()> read;  ///< opens a snapshot
  OpenClient open_client;                                 ///< the job keeps it; nothing else uses it
  bool may_wait;  ///< for its answers; else others wait for this thread
};

/// The end of a page that was read.
struct PageEnd {
  std::int64_t documents = 0;                ///< that are done with it
  std::optional<JobProgress> progress = {};  ///< of a job
  std::vector<WrittenPage> written = {};     ///< of due work: the pages of the list that it completes
  std::optional<DueNumber> since = {};       ///< since when its documents are due
  bool is_empty = false;                     ///< of due work: no document is due any more
};

class PagedWork {
 public:
  /// `index` must outlive this.
  explicit PagedWork(const AppliedIndex& index) : index_(index) {}
  virtual ~PagedWork() = default;
  PagedWork(const PagedWork&) = delete;
  PagedWork& operator=(const PagedWork&) = delete;

  const AppliedIndex& index() const { return index_; }
  virtual Lane lane() const = 0;

  /// "the backfill of posts"
  virtual std::string name() const = 0;

  /// Whether this process has begun it. Its first page is small, so that Elasticsearch has work soon.
  virtual bool has_begun() const = 0;

  /// Whether nothing is left to read.
  virtual bool all_read() const = 0;

  /// Whether pages can be read. False: ask again later. REQUIRES: no transaction is open.
  virtual bool is_ready() { return true; }

  /// Whether it next asks Elasticsearch about the writes of its pages, so that they must have their outcomes
  /// before it is called again.
  virtual bool awaits_outcomes() const { return false; }

  /// Whether the outbox keeps rows for it. Such work is asked whether it is ready even when its index takes
  /// nothing now: is_ready() reads these rows.
  virtual bool keeps_rows() const { return false; }

  /// Asks Elasticsearch for the facts that the next page needs, before a transaction is opened that would
  /// have to wait for the answer. False, only if it may not wait: there is no answer yet; call it again
  /// later.
  /// REQUIRES: is_ready(), not all_read(), no transaction is open.
  virtual bool look_ahead(const LookAhead& /*ask*/, const PageLimits& /*limits*/) { return true; }

  /// Marks it as begun in the source, if the source keeps that, unless this process has done so.
  virtual void begin(SourceTransaction& /*transaction*/) {}

  /// Reads the next page, and adds its documents. REQUIRES: begin() was called, and look_ahead() has returned
  /// true for this page.
  virtual PageEnd read_page(SourceTransaction& transaction, StepDocuments& documents,
                            const PageLimits& limits) = 0;

  /// Takes a page's findings about the whole work. REQUIRES: no page of it is being read.
  virtual void note(const PageEnd& /*page*/) {}

  /// A server has not answered it, for this reason: it is tried again at that time.
  void put_off(std::string why, SteadyTime until) {
    trouble_ = std::move(why);
    put_off_until_ = until;
  }
  bool is_put_off(SteadyTime now) const { return now < put_off_until_; }

  /// Why the last try failed; empty: it has not.
  const std::string& trouble() const { return trouble_; }
  void end_trouble() { trouble_.clear(); }

 private:
  const AppliedIndex& index_;
  std::string trouble_;
  SteadyTime put_off_until_{};
};

}  // namespace lockstep
