// The contract of a source (replicator/source/; S1 to S6 are in transaction.h) as one suite for every
// implementation. The tests are in source_contract_*.cc, a file for each part of the contract. An
// implementation brings a world (source_world.h) and is put under those of these suites that it has the means
// for.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/contract/source_world.h"
#include "tests/support/eventually.h"

namespace lockstep {

/// Values with how often each was reported.
using Reported = std::map<std::string, int>;

/// What a sink was given.
struct Rendered {
  /// Fills this, which must outlive it.
  DocumentSink sink();

  std::map<std::string, std::string> json;  ///< by id; "none": the view has no such document
  std::map<std::string, std::string> routing;
  std::map<std::string, std::set<std::string>> stale_routings;
  std::vector<std::string> order;  ///< ids
};

/// For every implementation.
class SourceContract : public testing::TestWithParam<MakeWorld> {
 protected:
  SourceContract();

  /// A chunk as the tail reads it, with the documents of `docs` rendered in the same transaction.
  struct Chunk {
    Changes changes;
    std::map<std::string, std::string> documents;  ///< "none": the view has no such document
  };

  /// Opens a source that leads, with a new epoch.
  void lead();
  /// Another connection, which does not lead.
  std::unique_ptr<Source> other() { return world_->open(); }

  const AppliedIndex& docs() const { return source_->pipeline().indices.at(0); }
  const AppliedIndex& parcels() const { return source_->pipeline().indices.at(1); }

  std::unique_ptr<SourceTransaction> begin() { return source_->changes().begin(epoch_); }
  DocumentVersion version(std::int64_t counter) const { return {epoch_, counter}; }

  /// Reads the next chunk, renders it, and saves the position.
  Chunk step(std::int64_t max_values = 1000);
  /// step() until there is nothing more; returns the values of all chunks.
  Reported drain(std::int64_t max_values = 1000);
  /// Drains and prunes until the outbox takes less than now. A transaction that is open elsewhere on the
  /// server holds the position back, and a lock the pruning.
  bool becomes_smaller_by_pruning();

  /// Saves this in a transaction of its own; returns what commit() has returned.
  Committed save(const Acknowledged& acknowledged);

  /// The changes that nobody has read become due of `index`, as of `as_of`, with the position saved. Fails
  /// the test unless commit() returns exactly that.
  void make_due(const AppliedIndex& index, DocumentVersion as_of);
  void make_due(const AppliedIndex& index) { make_due(index, version(1)); }
  /// A change of one document of each index.
  void make_parcel_and_thing_due();
  /// What has become visible, as the tail reads it, with the position saved.
  struct SteppedOver {
    Reported reported;      ///< in chunks
    std::set<IndexId> due;  ///< `docs`, of a large transaction
    std::vector<Job> jobs;  ///< that this has added
  };
  SteppedOver step_over(const ChunkLimits& limits);
  /// A change of so many things in one transaction, from this id on, becomes due as by step_over().
  void make_transaction_due(int first, int things);

  /// Whether the documents of the index's due changes are found, so many.
  bool finds(const AppliedIndex& index, std::int64_t documents);
  /// The pages of what is due of an index, in their order.
  std::vector<DuePage> due_pages(IndexId index);
  /// Their documents.
  std::vector<std::string> due_documents(IndexId index);
  /// The list of what is due of an index; none: it is empty.
  std::optional<DueList> due_list(IndexId index);
  /// These pages are written.
  void take_off(const std::vector<DuePage>& pages);

  /// The jobs of this kind in the source, oldest first.
  std::vector<Job> jobs_of(IndexId index, JobKind kind);
  std::optional<Job> find_job(JobId id);
  /// Saves that every job is finished, those that `apply` has left too.
  void finish_jobs();
  /// Adds a job in a transaction of its own; returns what commit() has returned.
  std::vector<Job> add_job(IndexId index, JobKind kind, const std::string& reason = "a test");

  DeadLetter refused(const AppliedIndex& index, const std::string& id, std::int64_t counter) const;

  template <class Condition>
  bool becomes_true(const Condition& condition) {
    return support::wait_until(condition, world_->patience());
  }

  std::unique_ptr<SourceWorld> world_;
  std::unique_ptr<SourceWriter> writer_;
  std::unique_ptr<Source> source_;
  Epoch epoch_;
  Position position_;
};

/// Where others commit while a transaction that reads is open (not beside a SQLite rollback journal).
class SnapshotSourceContract : public SourceContract {};

/// Where pages of jobs are read beside the leader's transactions (not in SQLite).
class PagesSourceContract : public SourceContract {};

/// Where transactions of several writers can be open at once after they have written (not in SQLite).
class ConcurrentSourceContract : public SourceContract {};

/// Where `wait` can ask.
class WatchedSourceContract : public SourceContract {};

/// Where an index may get a second generation.
class ReindexedSourceContract : public SourceContract {
 protected:
  static constexpr const char* kMapping = R"({"mappings": {"dynamic": false}})";
  static inline const NewGeneration kTwo{
      {"docs-000001", "docs-000001-w"}, {"docs-000002", "docs-000002-w"}, 17};

  /// The oldest reindex.
  Reindex known() { return source_->reindexes().all().at(0); }
  /// Takes its step to this state.
  bool go(std::optional<ReindexState> to);
  /// Lets the alias stand for the generation beside. REQUIRES: that is filled.
  void swap_generations();
  /// Drops the one beside, and ends the reindex.
  void end_reindex();
};

/// Where `apply` makes triggers, and where `status` can ask (not in the fake).
class DefinedSourceContract : public SourceContract {
 protected:
  DefinedWorld& world() { return dynamic_cast<DefinedWorld&>(*world_); }
};

/// Where transactions have numbers that `wait` can be asked for (not in SQLite).
class NumberedSourceContract : public DefinedSourceContract {};

/// Where the second generation may have another definition (not in the fake).
class RedefinedSourceContract : public ReindexedSourceContract {
 protected:
  DefinedWorld& world() { return dynamic_cast<DefinedWorld&>(*world_); }
  /// Begins to follow a second generation of `docs`, docs-000002, by the view docs_2.
  void fill_other_view();
  /// Throws std::out_of_range when the pipeline follows none of this name.
  const AppliedIndex& named(const std::string& name) const;
  /// The documents of an index that the changes since the last drain() lead to.
  std::vector<std::string> documents_of(const std::string& name);
};

/// Ids as the source takes them.
DocumentIds ids_of(const std::vector<std::string>& texts);
/// "1" to "n".
DocumentIds ids_up_to(int n);

}  // namespace lockstep
