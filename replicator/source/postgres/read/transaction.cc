#include "replicator/source/postgres/read/transaction.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/postgres/read/dead_letters.h"
#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/read/position.h"
#include "replicator/source/postgres/read/routes.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"

namespace lockstep {
namespace {

Deposed deposed() {
  return Deposed("another process has become leader of the pipeline");
}

}  // namespace

PostgresSourceTransaction::PostgresSourceTransaction(PostgresSession& session,
                                                     const PostgresPipeline& pipeline,
                                                     std::optional<Epoch> epoch, SharedRendering* sharing)
    : PostgresReading(session, pipeline, "opening a transaction", Isolation::kRepeatableRead, sharing),
      pipeline_(pipeline),
      jobs_(transaction_, pipeline.id()),
      due_(transaction_),
      epoch_(epoch) {}

Epoch PostgresSourceTransaction::required_epoch() const {
  if (!epoch_) throw std::logic_error("a repair's transaction does what only a leader's may do");
  return *epoch_;
}

// --- reading ---

void PostgresSourceTransaction::take_snapshot() {
  if (!seen_) seen_ = see(transaction_, pipeline_);
}

Changes PostgresSourceTransaction::read_changes(const Position& from, const ChunkLimits& limits) {
  take_snapshot();
  return read_outbox(transaction_, pipeline_, seen_->snapshot, from, limits);
}

std::optional<DocumentIds> PostgresSourceTransaction::resolve(const AppliedIndex& index,
                                                              const std::vector<CapturedChange>& changes,
                                                              const SearchLimits& limits) {
  return find_ids(transaction_, pipeline_.index(index.id), changes, limits);
}

NextDue PostgresSourceTransaction::next_due(IndexId index, const std::vector<DueNumber>& in_hand) {
  return due_.next(index, in_hand);
}

std::vector<std::size_t> PostgresSourceTransaction::new_dead_letters(const std::vector<DeadLetter>& refused) {
  return find_new_dead_letters(transaction_, refused);
}

// --- jobs and indices ---

PostgresTransaction& PostgresSourceTransaction::writing() {
  transaction_.note_write();
  return transaction_;
}

PostgresJobs& PostgresSourceTransaction::written_jobs() {
  transaction_.note_write();
  return jobs_;
}

PostgresDue& PostgresSourceTransaction::written_due() {
  transaction_.note_write();
  return due_;
}

void PostgresSourceTransaction::add_job(IndexId index, JobKind kind, const std::string& reason) {
  if (std::optional<Job> job = written_jobs().add(index, kind, reason))
    added_.jobs.push_back(*std::move(job));
}

void PostgresSourceTransaction::add_due_changes(const AppliedIndex& index,
                                                const std::vector<CapturedChange>& changes,
                                                DocumentVersion as_of) {
  written_due().add(index.id, changes, as_of);
  added_.due.insert(index.id);
}

void PostgresSourceTransaction::add_due_transaction(const AppliedIndex& index,
                                                    const LargeTransaction& transaction,
                                                    DocumentVersion as_of) {
  written_due().add(index.id, PostgresLargeTransaction::from(transaction), as_of);
  added_.due.insert(index.id);
}

void PostgresSourceTransaction::add_due(const AppliedIndex& index, const DocumentIds& ids,
                                        const DueOrigin& origin) {
  const std::string query = "select unnest(" + transaction_.quote(ids_literal(ids)) + "::text[]) as k";
  if (written_due().add_pages(index.id, query, origin) > 0) added_.due.insert(index.id);
}

// A page is rendered by _id. That reaches no text that is no value of the _id's type and, if the view has no
// routing, no document under one; a sweep deletes those.
void PostgresSourceTransaction::add_repair(const AppliedIndex& applied,
                                           const std::vector<FoundDocument>& found, const DueOrigin& origin) {
  const PostgresIndex& index = pipeline_.index(applied.id);
  const std::vector<FoundDocument> documents =
      origin.pause.count() > 0 ? written_due().without_waiting(index.id, found, origin, written_pages_)
                               : found;
  DocumentIds all_ids;
  std::vector<std::string> all_routings;
  for (const FoundDocument& document : documents) {
    all_ids.push_back(document.id);
    all_routings.push_back(document.routing);
  }
  const std::string ids = ids_literal(all_ids);
  const std::string routings = array_literal(all_routings);
  const std::string repairable =
      castable_id(index, "f.id") + " is not null" + (index.routed ? "" : " and f.routing = ''");
  const auto filled = [&](std::string_view name) {
    return fill_placeholders(postgres_sql(name),
                             {{"schema", transaction_.session().schema()}, {"repairable", repairable}});
  };
  const Doing doing("noting documents to be repaired");
  const std::string repairable_ids =
      fill_placeholders(postgres_sql("repairable_documents"), {{"ids", transaction_.quote(ids)},
                                                               {"routings", transaction_.quote(routings)},
                                                               {"repairable", repairable}});
  const bool is_added = written_due().add_pages(index.id, repairable_ids, origin) > 0;
  if (is_added && origin.later.count() == 0) added_.due.insert(index.id);
  if (index.routed) transaction_.run_filled(doing, filled("add_found_routes"), index.id.value, ids, routings);
  if (!transaction_.run_filled(doing, filled("find_unrepairable"), ids, routings).empty())
    added_.jobs.push_back(written_jobs().insert(index.id, JobKind::kSweep, origin.reason));
}

void PostgresSourceTransaction::begin_job(JobId job) {
  written_jobs().begin(job);
}

void PostgresSourceTransaction::set_aside(IndexId index, const std::string& reason) {
  const Doing doing("setting an index aside");
  writing().run(
      doing, "insert into {schema}.set_aside (index, reason) values ($1, $2) on conflict (index) do nothing",
      index.value, transaction_.session().storable(reason));
  const auto is_forgotten = [&](const Job& job) {
    return job.index == index && (job.kind == JobKind::kComparison || job.kind == JobKind::kSweep);
  };
  for (const Job& job : load_jobs(transaction_, pipeline_).readable) {
    if (is_forgotten(job)) transaction_.run(doing, "delete from {schema}.job where id = $1", job.id.value);
  }
  std::erase_if(added_.jobs, is_forgotten);
}

void PostgresSourceTransaction::take_back(IndexId index) {
  writing().run(Doing("taking an index back"), "delete from {schema}.set_aside where index = $1",
                index.value);
}

void PostgresSourceTransaction::skip_changes() {
  writing().run(Doing("skipping the changes of another database"),
                "delete from {schema}.outbox where capture = any($1::integer[])", pipeline_.captures);
  checkpoint_ = position();
}

// --- the checkpoint ---

void PostgresSourceTransaction::save(const Acknowledged& acknowledged) {
  if (acknowledged.position) checkpoint_ = acknowledged.position;
  written_pages_.insert(written_pages_.end(), acknowledged.written_pages.begin(),
                        acknowledged.written_pages.end());
  acknowledged_.push_back(acknowledged);
}

bool PostgresSourceTransaction::may_be_shown() {
  const Epoch epoch = required_epoch();
  if (!transaction_.session().tells_wal()) return false;  // a commit finds out, and makes it durable
  if (!transaction_.has_written() && seen_ && seen_->is_durable && seen_->epoch) {
    if (*seen_->epoch != epoch.value) throw deposed();
    return !checkpoint_ && acknowledged_.empty();
  }
  const pqxx::result row =
      transaction_.run(Doing("asking for the durable position"), postgres_sql("may_be_shown"), pipeline_.id(),
                       seen_ ? seen_->wal : std::nullopt);
  if (row.empty() || stored<std::int64_t>(row[0][0], "checkpoint") != epoch.value) throw deposed();
  return row[0][1].as<bool>() && !checkpoint_ && acknowledged_.empty();
}

// Writes the row even if the checkpoint stays where it is: the synchronous commit of this row makes durable
// everything that the snapshot saw (S4), and its condition detects a deposed process (S5).
void PostgresSourceTransaction::write_checkpoint(PostgresTransaction& transaction, Epoch epoch) {
  const Doing doing("saving the checkpoint");
  pqxx::result written;
  try {
    if (checkpoint_) {
      const PostgresPosition at = PostgresPosition::from(*checkpoint_);
      written = transaction.run(doing, postgres_sql("save_checkpoint"), pipeline_.id(), epoch.value, at.prev,
                                at.cur, std::to_string(at.last_txid), at.last_id);
    } else {
      written = transaction.run(doing,
                                "update {schema}.checkpoint set written_at = clock_timestamp() "
                                "where pipeline = $1 and epoch = $2",
                                pipeline_.id(), epoch.value);
    }
  } catch (const PostgresError& error) {
    if (error.sqlstate() == sqlstate::kSerializationFailure) throw deposed();
    throw;
  }
  if (written.affected_rows() == 0) throw deposed();
}

void PostgresSourceTransaction::write_acknowledged(PostgresTransaction& transaction) {
  if (epoch_ || checkpoint_ || !acknowledged_.empty()) write_checkpoint(transaction, required_epoch());
  PostgresJobs jobs(transaction, pipeline_.id());
  for (const Acknowledged& acknowledged : acknowledged_) {
    for (const JobProgress& progress : acknowledged.jobs) jobs.save(progress);
    save_dead_letters(transaction, acknowledged);
    forget_routes(transaction, acknowledged.gone_routes);
  }
}

// A row may have changed since the snapshot: a person discards a dead letter, an `apply` takes a job back.
// Acknowledgements hold for any snapshot, so they are written as of now. All other writes until then depend
// on what was read, and are read again by the next leader.
void PostgresSourceTransaction::commit_acknowledged() {
  const Doing doing("committing the checkpoint");
  try {
    write_acknowledged(transaction_);
    transaction_.commit(doing);
  } catch (const PostgresError& error) {
    if (error.sqlstate() != sqlstate::kSerializationFailure || transaction_.has_written()) throw;
    transaction_.close();
    PostgresTransaction again(transaction_.session(), "saving the checkpoint");
    write_acknowledged(again);
    again.commit(doing);
  }
}

// After that, and seeing more than it: documents that are found meanwhile join these pages (due_finder.h),
// and a repeatable read would fail over it. A page that is not taken off, since this process ends here, is
// written again.
void PostgresSourceTransaction::take_off_written() {
  if (written_pages_.empty()) return;
  PostgresTransaction direct(transaction_.session(), "removing from the due list", Isolation::kEachStatement);
  const std::vector<IndexId> joined = PostgresDue(direct).take_off(written_pages_);
  added_.due.insert(joined.begin(), joined.end());
}

Committed PostgresSourceTransaction::commit() {
  try {
    commit_acknowledged();
    take_off_written();
  } catch (...) {
    transaction_.close();  // the caller may continue with another transaction while it holds this one
    throw;
  }
  return std::move(added_);
}

}  // namespace lockstep
