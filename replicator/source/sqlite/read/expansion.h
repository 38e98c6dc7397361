// Makes the lists of fan-outs beside the tail, on a connection and in a thread of its own: for hundreds of
// thousands of documents that takes a second.
//
// The ids are gathered in a temporary table, which is this connection's own, while a snapshot is open. They
// are copied into the application's file page by page, each in a short transaction. The list comes from a
// newer snapshot than the change: a document that no longer depends on the changed row has changed itself
// meanwhile, and its own tracks lead to it.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "replicator/config/config.h"
#include "replicator/source/outbox/job.h"
#include "replicator/source/sqlite/read/pipeline.h"
#include "replicator/source/sqlite/read/position.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

class SqliteExpansion {
 public:
  /// Connects when there is something to do.
  explicit SqliteExpansion(SourceConfig source) : source_(std::move(source)) {}
  /// Ends what is being done; the next leader starts it over.
  ~SqliteExpansion();
  SqliteExpansion(const SqliteExpansion&) = delete;
  SqliteExpansion& operator=(const SqliteExpansion&) = delete;

  /// Begins to make the list of the job unless a list is being made. Returns what is known of it once it is
  /// complete and committed. Throws Error, ViewError when making it would fail again.
  std::optional<FanOutList> advance(const SqlitePipeline& pipeline, const SqliteIndex& index, JobId job);

  /// The job whose list is being made.
  std::optional<JobId> job_in_hand() const { return list_.valid() ? std::optional(job_) : std::nullopt; }

 private:
  /// What a list is made of: rows of the outbox, or the changes that the job keeps.
  struct Begun {
    bool is_gone = false;               ///< there is no such job
    std::optional<std::int64_t> total;  ///< the list is complete
    std::optional<SqliteRows> rows = {};
    std::int64_t documents = 0;  ///< in the list already
  };

  FanOutList expand(const SqlitePipeline& pipeline, const SqliteIndex& index, JobId job);
  Begun begin(JobId job);
  /// Gathers what the job's changes lead to.
  void gather_changes(const SqlitePipeline& pipeline, const SqliteIndex& index, JobId job);
  /// Gathers what some of the rows lead to; returns those that are left.
  std::optional<SqliteRows> gather_rows(const SqlitePipeline& pipeline, const SqliteIndex& index,
                                        const SqliteRows& rows, FanOutList& list);
  void gather(const SqlitePipeline& pipeline, const SqliteIndex& index,
              const std::vector<CapturedChange>& changes);
  /// Writes the pages of what was gathered behind `written`; returns how many documents the list has.
  std::int64_t write_pages(JobId job, std::int64_t before, std::int64_t written);
  bool is_cancelled();

  const SourceConfig source_;
  std::mutex mutex_;
  std::unique_ptr<SqliteConnection> connection_;  // guarded by mutex_, except that the thread uses it
  bool is_cancelled_ = false;                     // guarded by mutex_
  JobId job_;                                     // in hand, while list_ is valid
  std::future<FanOutList> list_;
  std::map<JobId, FanOutList> made_;  // and not asked for yet
};

}  // namespace lockstep
