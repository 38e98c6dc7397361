// Moves the checkpoint, and makes sure that what a transaction saw is durable before Elasticsearch is shown
// it (S4): by a commit, which also saves what has been acknowledged meanwhile, or without a commit where the
// source needs none.
//
// K1. The checkpoint does not move over a refused document before the document is a dead letter: one commit
//     saves both.
//
// K2. What RefusedShare rejects is not committed.
//
// K3. The checkpoint does not move over a parked document before there is a job that writes it: one commit
//     saves both (W4).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "replicator/clock.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/jobs/parked_jobs.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/refused_share.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class Checkpoint {
 public:
  /// All references must outlive this. `board` says when a save takes long.
  Checkpoint(const AppliedPipeline& pipeline, ChangeLog& changes, DocumentWriter& writer,
             ProgressBoard& board, Epoch epoch, RefusedShare refused_share)
      : pipeline_(pipeline),
        changes_(changes),
        writer_(writer),
        board_(board),
        epoch_(epoch),
        refused_share_(std::move(refused_share)) {}

  /// Calls `listener` after each save with what was saved.
  void on_saved(std::function<void(const Acknowledged&)> listener) { listener_ = std::move(listener); }

  /// Calls `listener` after each commit that saved parked documents with the jobs that it added for them.
  void on_parked(std::function<void(const std::vector<Job>&)> listener) {
    parked_listener_ = std::move(listener);
  }

  /// The job reads its documents next: what is parked from now on needs another one. Call it before the
  /// transaction that begins the job.
  void job_begins(JobId job) { parked_jobs_.begins(job); }

  /// Puts an index that starts with so many dead letters on trial: from now on its refusals are saved only
  /// together with enough documents to judge them. So a service that is started again and again, and stops
  /// each time because too many documents are refused, adds no dead letters. The trial ends with the first
  /// window that holds, and with end_trials().
  void begin_trial(IndexId index, std::int64_t dead_letters);

  /// Call it when nothing is left to wait for.
  void end_trials() { on_trial_.clear(); }

  /// Settles a transaction whose documents Elasticsearch is shown next: what it saw is durable afterwards.
  /// The caller may end it when they are on their way: that is a round trip to the source. Returns the jobs
  /// that it has added. Throws Deposed or Error.
  std::vector<Job> settle(SourceTransaction& transaction);

  /// Makes durable what any snapshot until now has seen, by a commit that also saves what has been
  /// acknowledged. Throws Deposed or Error.
  void make_durable();

  /// Saves, in a transaction of its own, what has been acknowledged. When nothing of the tail is in flight,
  /// the checkpoint moves to `read_to`: the changes up to there needed no work.
  void save(const Position& read_to);

  /// How long what is unsaved may stay so.
  SavePace pace() const;

  /// Since the last save.
  std::chrono::steady_clock::duration age(SteadyTime now) const { return now - saved_at_; }

 private:
  /// What one commit saves.
  struct News {
    Acknowledged acknowledged;
    std::map<IndexId, ParkedDocuments> parked;
  };

  bool waits_for_more() const;
  News take_news();
  std::vector<Job> save_and_commit(SourceTransaction& transaction, const News& news);
  /// Parked documents that have a new job.
  using PutOff = std::map<IndexId, std::vector<FoundDocument>>;
  PutOff add_jobs(SourceTransaction& transaction, const std::map<IndexId, ParkedDocuments>& parked);
  void note_added(const std::vector<Job>& added, const PutOff& put_off);

  const AppliedPipeline& pipeline_;
  ChangeLog& changes_;
  DocumentWriter& writer_;
  ProgressBoard& board_;
  const Epoch epoch_;
  RefusedShare refused_share_;
  ParkedJobs parked_jobs_;
  std::map<IndexId, std::int64_t> on_trial_;  // documents to wait for
  std::function<void(const Acknowledged&)> listener_ = [](const Acknowledged&) {};
  std::function<void(const std::vector<Job>&)> parked_listener_ = [](const std::vector<Job>&) {};
  SteadyTime saved_at_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep
