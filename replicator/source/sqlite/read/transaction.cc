#include "replicator/source/sqlite/read/transaction.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/sqlite/read/dead_letters.h"
#include "replicator/source/sqlite/read/ids.h"
#include "replicator/source/sqlite/read/lead.h"
#include "replicator/source/sqlite/read/routes.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kCommitting = "committing the checkpoint";

Deposed deposed() {
  return Deposed("another process has become leader of the pipeline");
}

}  // namespace

SqliteSourceTransaction::SqliteSourceTransaction(SqliteConnection& connection, const SqlitePipeline& pipeline,
                                                 const FirstSeen& first_seen, SqliteHistory& history,
                                                 std::optional<Epoch> epoch)
    : SqliteReading(connection, pipeline, "opening a transaction"),
      first_seen_(first_seen),
      history_(history),
      epoch_(epoch),
      jobs_(connection, pipeline.id()),
      due_(connection) {
  if (epoch_ && !history_.goes_on(connection_, pipeline_.id())) throw_gone_back();
}

void SqliteSourceTransaction::throw_gone_back() {
  snapshot_.end();
  throw note_gone_back(connection_);
}

Epoch SqliteSourceTransaction::required_epoch() const {
  if (!epoch_) throw std::logic_error("a repair's transaction does what only a leader's may do");
  return *epoch_;
}

// --- reading ---

Changes SqliteSourceTransaction::read_changes(const Position& from, const ChunkLimits& limits) {
  const std::int64_t behind = id_of(from);
  if (newest_outbox_id(connection_) < behind) throw_gone_back();
  Changes changes = read_outbox(connection_, pipeline_, behind, limits);
  if (changes.rows > 0) changes.oldest_age = first_seen_.age(behind + 1, std::chrono::steady_clock::now());
  return changes;
}

std::optional<DocumentIds> SqliteSourceTransaction::resolve(const AppliedIndex& index,
                                                            const std::vector<CapturedChange>& changes,
                                                            const SearchLimits& limits) {
  return find_ids(connection_, pipeline_, pipeline_.index(index.id), changes, limits);
}

NextDue SqliteSourceTransaction::next_due(IndexId index, const std::vector<DueNumber>& in_hand) {
  return read_next_due(connection_, index, in_hand);
}

std::vector<std::size_t> SqliteSourceTransaction::new_dead_letters(const std::vector<DeadLetter>& refused) {
  return find_new_dead_letters(connection_, refused);
}

DocumentIds SqliteSourceTransaction::render_for(DocumentVersion version, const AppliedIndex& index,
                                                const DocumentIds& ids, std::int64_t max_bytes,
                                                const DocumentSink& sink) {
  const SqliteIndex& own = pipeline_.index(index.id);
  if (!own.routed) return views_.render(own, ids, max_bytes, nullptr, sink);
  SqliteRoutes routes(connection_, own, version);
  DocumentIds left_over = views_.render(own, ids, max_bytes, &routes, sink);
  keep_routes(routes);
  return left_over;
}

ViewPageEnd SqliteSourceTransaction::render_page_for(DocumentVersion version, const AppliedIndex& index,
                                                     const std::optional<DocumentId>& after,
                                                     std::int64_t limit, std::int64_t max_bytes,
                                                     const DocumentSink& sink) {
  const SqliteIndex& own = pipeline_.index(index.id);
  if (!own.routed) return views_.render_page(own, after, limit, max_bytes, nullptr, sink);
  SqliteRoutes routes(connection_, own, version);
  ViewPageEnd end = views_.render_page(own, after, limit, max_bytes, &routes, sink);
  keep_routes(routes);
  return end;
}

void SqliteSourceTransaction::keep_routes(SqliteRoutes& routes) {
  SqliteNewRoutes fresh = routes.take_fresh();
  if (fresh.ids.empty()) return;
  steps_.emplace_back([this, fresh = std::move(fresh)] { save_routes(connection_, fresh); });
}

// --- jobs and indices ---

void SqliteSourceTransaction::add_job(IndexId index, JobKind kind, const std::string& reason) {
  steps_.emplace_back([=, this] {
    if (std::optional<Job> job = jobs_.add(index, kind, reason)) added_.jobs.push_back(*std::move(job));
  });
}

void SqliteSourceTransaction::add_due_changes(const AppliedIndex& index,
                                              const std::vector<CapturedChange>& changes,
                                              DocumentVersion as_of) {
  steps_.emplace_back([=, this, index = index.id] {
    due_.add(index, changes, as_of);
    added_.due.insert(index);
  });
}

void SqliteSourceTransaction::add_due_transaction(const AppliedIndex& index,
                                                  const LargeTransaction& transaction,
                                                  DocumentVersion as_of) {
  steps_.emplace_back([=, this, index = index.id, rows = SqliteRows::from(transaction)] {
    due_.add(index, rows, as_of);
    added_.due.insert(index);
  });
}

void SqliteSourceTransaction::write_due(IndexId index, const DocumentIds& ids, const DueOrigin& origin) {
  if (ids.empty()) return;
  due_.add(index, ids, origin);
  if (origin.later.count() == 0) added_.due.insert(index);
}

void SqliteSourceTransaction::add_due(const AppliedIndex& index, const DocumentIds& ids,
                                      const DueOrigin& origin) {
  steps_.emplace_back([=, this, index = index.id] { write_due(index, ids, origin); });
}

// A page is rendered by _id. That reaches no text that is no value of the _id's type and, if the view has no
// routing, no document under one; a sweep deletes those.
void SqliteSourceTransaction::add_repair(const AppliedIndex& applied,
                                         const std::vector<FoundDocument>& documents,
                                         const DueOrigin& origin) {
  const SqliteIndex& index = pipeline_.index(applied.id);
  std::vector<FoundDocument> within_reach;
  DocumentIds ids;
  for (const FoundDocument& document : documents) {
    if (!can_be_id(index, document.id.text) || !(index.routed || document.routing.empty())) continue;
    within_reach.push_back(document);
    ids.push_back(document.id);
  }
  const bool is_all = within_reach.size() == documents.size();
  steps_.emplace_back([=, this, index = index.id, is_routed = index.routed] {
    const bool may_join = origin.pause.count() > 0;
    write_due(index, may_join ? due_.without_waiting(index, ids, origin, written_pages_) : ids, origin);
    if (is_routed) add_found_routes(connection_, index, within_reach);
    if (!is_all) added_.jobs.push_back(jobs_.insert(index, JobKind::kSweep, origin.reason));
  });
}

void SqliteSourceTransaction::begin_job(JobId job) {
  steps_.emplace_back([this, job] { jobs_.begin(job); });
}

void SqliteSourceTransaction::set_aside(IndexId index, const std::string& reason) {
  steps_.emplace_back([=, this] {
    SqliteStatement(connection_, "setting an index aside",
                    "insert or ignore into {schema}_set_aside (index_id, reason) values (?1, ?2)",
                    index.value, reason)
        .run();
    forget_jobs_of(index);
  });
}

void SqliteSourceTransaction::forget_jobs_of(IndexId index) {
  const auto is_forgotten = [&](const Job& job) {
    return job.index == index && (job.kind == JobKind::kComparison || job.kind == JobKind::kSweep);
  };
  for (const Job& job : load_jobs(connection_, pipeline_).readable) {
    if (is_forgotten(job)) jobs_.remove(job.id);
  }
  std::erase_if(added_.jobs, is_forgotten);
}

void SqliteSourceTransaction::take_back(IndexId index) {
  steps_.emplace_back([=, this] {
    SqliteStatement(connection_, "taking an index back", "delete from {schema}_set_aside where index_id = ?1",
                    index.value)
        .run();
  });
}

void SqliteSourceTransaction::skip_changes() {
  checkpoint_ = position();
}

// --- the checkpoint ---

void SqliteSourceTransaction::save(const Acknowledged& acknowledged) {
  if (acknowledged.position) checkpoint_ = acknowledged.position;
  written_pages_.insert(written_pages_.end(), acknowledged.written_pages.begin(),
                        acknowledged.written_pages.end());
  acknowledged_.push_back(acknowledged);
}

bool SqliteSourceTransaction::may_be_shown() {
  if (stored_epoch(connection_, pipeline_.id()) != required_epoch()) throw deposed();
  if (!steps_.empty() || checkpoint_ || !acknowledged_.empty()) return false;
  connection_.sync();
  return true;
}

bool SqliteSourceTransaction::write_checkpoint(std::int64_t number) {
  const Epoch epoch = required_epoch();
  SqliteStatement update(connection_, "saving the checkpoint",
                         "update {schema}_checkpoint set last_id = coalesce(?5, last_id), saved = ?3, "
                         "written_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') "
                         "where pipeline = ?1 and epoch = ?2 and saved = coalesce(?4, saved)",
                         pipeline_.id(), epoch.value, number, history_.last());
  if (checkpoint_) update.bind(5, id_of(*checkpoint_));
  update.run();
  return connection_.changes() > 0;
}

void SqliteSourceTransaction::write_acknowledged() {
  for (const Acknowledged& acknowledged : acknowledged_) {
    for (const JobProgress& progress : acknowledged.jobs) jobs_.save(progress);
    save_dead_letters(connection_, acknowledged);
    forget_routes(connection_, acknowledged.gone_routes);
  }
  const std::vector<IndexId> joined = due_.take_off(written_pages_);
  added_.due.insert(joined.begin(), joined.end());
}

bool SqliteSourceTransaction::write() {
  const std::int64_t number = SqliteHistory::next();
  const bool is_save = epoch_ || checkpoint_ || !acknowledged_.empty();
  SqliteWrite write(connection_, kCommitting);
  if (is_save && !write_checkpoint(number)) return false;
  for (const std::function<void()>& step : steps_) step();
  write_acknowledged();
  write.commit(kCommitting);
  if (is_save) history_.saved(required_epoch(), number);
  return true;
}

// Everything that the snapshot saw is durable together with the writes behind it.
Committed SqliteSourceTransaction::commit() {
  snapshot_.end();
  if (!write()) {
    if (!history_.goes_on(connection_, pipeline_.id())) throw_gone_back();
    throw deposed();
  }
  connection_.sync();
  return std::move(added_);
}

}  // namespace lockstep
