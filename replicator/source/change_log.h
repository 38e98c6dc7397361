// The stream of changes, for the leader's loop: the work, and transactions in which to do it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "replicator/document_version.h"
#include "replicator/source/page_connection.h"
#include "replicator/source/transaction.h"

namespace lockstep {

class ChangeLog {
 public:
  virtual ~ChangeLog() = default;

  /// Opens a transaction of the leader of `epoch`.
  virtual std::unique_ptr<SourceTransaction> begin(Epoch epoch) = 0;

  /// Opens a transaction for add_repair(), which needs no lead: its commit() never throws Deposed.
  virtual std::unique_ptr<SourceTransaction> begin_repair() = 0;

  /// A connection for reading pages of jobs alongside all other work here. None: the source has no such
  /// connection, and pages are read in begin(). It may outlive this.
  virtual std::unique_ptr<PageConnection> page_connection() = 0;

  /// Lets the statement that runs in begin() fail with a retryable Error; any thread may call it. It has come
  /// to its end when it returns: no later statement fails. False, and nothing is done: the source has no
  /// page_connection(), so a long reading is possible nowhere else.
  virtual bool cancel_reading() = 0;

  /// Opens a snapshot to read from.
  virtual std::unique_ptr<SourceSnapshot> read() = 0;

  /// The checkpoint: where the tail continues.
  virtual Position checkpoint() = 0;

  /// Whether Elasticsearch has acknowledged everything of this pipeline that was committed before `position`,
  /// apart from due documents and jobs.
  virtual bool has_passed(const Position& position) = 0;

  /// Whether anything may have been committed behind `position`: a cheap question. False is certain.
  virtual bool may_have_changed(const Position& position) = 0;

  /// Waits until may_have_changed(), at most `at_most`, checking every `check_every`. False: nothing at all
  /// was committed in the source behind `position`, not even changes of its jobs and definitions alone. Does
  /// not notice a client that begins to wait for the checkpoint meanwhile. REQUIRES: no transaction is open.
  virtual bool await_change(const Position& position, std::chrono::milliseconds check_every,
                            std::chrono::milliseconds at_most) = 0;

  /// How long acknowledged work may stay unsaved, given what a save costs the application: after a crash it
  /// is repeated. None: a client waits for the checkpoint (applied_watch.h). REQUIRES: no transaction is
  /// open.
  virtual std::chrono::milliseconds save_within() = 0;

  /// The jobs that are not finished. A job that cannot be read stops its own index, and no other.
  virtual UnfinishedJobs jobs() = 0;

  /// The due lists that are not empty.
  virtual std::vector<DueList> due() = 0;

  /// Finds the documents of the index's due changes, in the order in which they became due and as many at a
  /// time as memory allows, and makes pages of them, alongside all other work here: none while that is not
  /// complete (call again). Of one index at a time. REQUIRES: leading, no transaction open.
  virtual std::optional<FoundDue> find_due(const AppliedIndex& index) = 0;
};

}  // namespace lockstep
