#include "replicator/source/postgres/read/outbox_maintenance.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/pipeline_status.h"
#include "replicator/source/postgres/catalog/differences.h"
#include "replicator/source/postgres/read/lead_holders.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/warnings.h"

namespace lockstep {
namespace {

constexpr const char* kPruning = "pruning the outbox";
constexpr std::int64_t kLargeLeaf = std::int64_t{16} << 20;  // then writers turn to another one
constexpr auto kLeafAge = std::chrono::minutes(10);          // or when they have written into it for so long
// Shares of the limit: below a quarter nothing is done about it; a leaf with an eighth of it is large.
constexpr std::int64_t kSmallShares = 4;
constexpr std::int64_t kTurnShares = 8;
constexpr auto kLatePart = std::chrono::seconds(2);  // a part that is not followed for so long is named

}  // namespace

void PostgresOutboxMaintenance::keep_small() {
  if (!has_limit_) return;
  Outbox outbox = look();
  if (outbox.limit && outbox.pending() >= *outbox.limit / kSmallShares) give_back(std::move(outbox));
}

bool PostgresOutboxMaintenance::resume() {
  if (limit_.is_full()) {
    give_back(look());
    // Pending changes may never be read: of a pipeline that no longer runs, for one.
    if (limit_.is_over_on_disk() && look().pending() > 0) {
      limit_.skip_pending();
      give_back(look());
    }
    if (limit_.is_over_on_disk()) return false;
    // Comparisons make up for the changes pending now. They are followed all the same.
    for (Leaf& leaf : look().leaves) note_passed(leaf, leaf.bytes);
    limit_.capture_again();
  }
  if (!limit_.resume()) return false;
  give_back(look());
  return true;
}

std::int64_t PostgresOutboxMaintenance::Outbox::pending() const {
  std::int64_t bytes = 0;
  for (const Leaf& leaf : leaves) bytes += leaf.pending();
  return bytes;
}

PostgresOutboxMaintenance::Leaf& PostgresOutboxMaintenance::Outbox::written() {
  const auto found =
      std::find_if(leaves.begin(), leaves.end(), [](const Leaf& leaf) { return leaf.is_written; });
  if (found == leaves.end())
    throw Error({"looking at the outbox", "no leaf of it is written", "run `lockstep apply`"});
  return *found;
}

PostgresOutboxMaintenance::Outbox PostgresOutboxMaintenance::look() {
  Outbox outbox;
  for (const pqxx::row& row : session_.ask("looking at the outbox", postgres_sql("outbox_maintenance"))) {
    Leaf leaf;
    leaf.slot = row[0].as<int>();
    leaf.name = session_.schema() + ".outbox_" + row[0].c_str();
    leaf.bytes = row[1].as<std::int64_t>();
    leaf.passed = row[2].as<std::int64_t>();
    leaf.is_written = row[3].as<bool>();
    leaf.is_empty = row[4].as<bool>();
    outbox.leaves.push_back(std::move(leaf));
    if (!row[5].is_null()) outbox.limit = row[5].as<std::int64_t>();
  }
  has_limit_ = outbox.limit.has_value();
  return outbox;
}

void PostgresOutboxMaintenance::give_back(Outbox outbox) {
  for (Leaf& leaf : outbox.leaves) {
    if (!leaf.is_written && !leaf.is_empty) empty(leaf);
  }
  Leaf& written = outbox.written();
  const auto now = std::chrono::steady_clock::now();
  const Leaf* next = next_leaf(outbox, written, now - turned_at_ >= kLeafAge);
  if (next == nullptr) return;
  session_.ask("turning to another leaf of the outbox", "select {schema}.write_outbox_leaf($1)", next->slot);
  turned_at_ = now;
  empty(written);
}

const PostgresOutboxMaintenance::Leaf* PostgresOutboxMaintenance::next_leaf(const Outbox& outbox,
                                                                            const Leaf& written,
                                                                            bool is_old) {
  if (written.is_empty) return nullptr;
  const std::int64_t large = std::min(kLargeLeaf, outbox.limit.value_or(kLargeLeaf) / kTurnShares);
  if (!is_old && written.bytes < large) return nullptr;
  for (const Leaf& leaf : outbox.leaves) {
    if (!leaf.is_written && leaf.is_empty) return &leaf;
  }
  // Without a free one, passed rows can only be distinguished here if no writer begins here.
  if (!outbox.limit || written.pending() < *outbox.limit / kTurnShares) return nullptr;
  for (const Leaf& leaf : outbox.leaves) {
    if (!leaf.is_written && leaf.is_only_passed) return &leaf;
  }
  return nullptr;
}

void PostgresOutboxMaintenance::empty(Leaf& leaf) {
  {
    PostgresTransaction direct(session_, kPruning, Isolation::kEachStatement);
    if (!is_passed(direct, leaf)) return;
    leaf.is_only_passed = direct.run(postgres_sql("leaf_is_held"), leaf.name)[0][0].as<bool>();
  }
  if (leaf.is_only_passed) {
    note_passed(leaf, leaf.bytes);
  } else if (truncate(leaf)) {
    note_passed(leaf, 0);
    leaf.is_empty = true;
  }
}

bool PostgresOutboxMaintenance::is_passed(PostgresTransaction& transaction, const Leaf& leaf) const {
  return transaction
      .run_once(fill_placeholders(postgres_sql("leaf_is_passed"),
                                  {{"schema", session_.schema()}, {"leaf", leaf.name}}))[0][0]
      .as<bool>();
}

bool PostgresOutboxMaintenance::truncate(const Leaf& leaf) {
  try {
    PostgresTransaction transaction(session_, kPruning);
    // A writer that still has rows in this leaf holds it; later writers wait as long as we do.
    transaction.execute("set local lock_timeout = '50ms'");
    transaction.execute("lock table " + leaf.name + " in access exclusive mode");
    if (!is_passed(transaction, leaf)) return false;
    transaction.execute("truncate " + leaf.name);
    transaction.commit();
    return true;
  } catch (const PostgresError& error) {
    if (!error.retryable() || !session_.is_open()) throw;
    return false;
  }
}

void PostgresOutboxMaintenance::note_passed(Leaf& leaf, std::int64_t bytes) {
  if (std::exchange(leaf.passed, bytes) == bytes) return;
  session_.ask("noting the passed part of the outbox", "select {schema}.note_outbox_passed($1, $2)",
               leaf.slot, bytes);
}

std::vector<std::string> PostgresOutboxMaintenance::follow_parts_of(const std::string& table,
                                                                    const std::string& function) {
  PostgresTransaction transaction(session_, "following the parts of " + table);
  transaction.execute("set transaction isolation level read committed");
  std::vector<std::string> lines;
  for (const pqxx::row& row : transaction.run_once("select " + function + "()"))
    lines.emplace_back(row[0].c_str());
  transaction.commit();
  return lines;
}

std::vector<std::string> PostgresOutboxMaintenance::follow_parts() {
  std::vector<std::string> lines;
  std::map<std::string, std::string> functions;  // by tracked table
  errors_.clear();
  look_for_unfollowed();
  for (const auto& [what, part] : unfollowed_) functions[part.table] = part.function;
  for (const auto& [table, function] : functions) {
    if (function.empty()) continue;  // an older Lockstep has applied it: its triggers are missed, and named
    try {
      for (std::string& line : follow_parts_of(table, function)) lines.push_back(std::move(line));
    } catch (const PostgresError& error) {
      if (!session_.is_open()) throw;
      if (!error.retryable()) errors_[table] = error.what();
    }
  }
  if (!functions.empty()) look_for_unfollowed();
  return lines;
}

void PostgresOutboxMaintenance::look_for_unfollowed() {
  const auto now = std::chrono::steady_clock::now();
  std::map<std::string, UnfollowedPart> found;
  try {
    for (const pqxx::row& row :
         session_.ask("looking for parts of tables", postgres_sql("find_changed_parts"), pipeline_.id(),
                      schema_name_)) {
      const auto known = unfollowed_.find(row[3].c_str());
      found[row[3].c_str()] = {row[0].c_str(), row[1].c_str(), row[2].c_str(),
                               known == unfollowed_.end() ? now : known->second.since};
    }
  } catch (const PostgresError& error) {
    if (!session_.is_open()) throw;
    if (error.retryable()) return;
    found = {{"partitions of tracked tables may have come or gone", {}}};
    errors_[""] = error.what();
  }
  unfollowed_ = std::move(found);
}

std::vector<std::string> PostgresOutboxMaintenance::unfollowed_parts() {
  std::vector<std::string> sentences;
  const auto late = std::chrono::steady_clock::now() - kLatePart;
  for (const auto& [what, part] : unfollowed_) {
    const auto error = errors_.find(part.table);
    if (error == errors_.end() && part.since > late) continue;
    std::string why = "run `lockstep apply`";
    if (error != errors_.end())
      why = error->second + "; run `lockstep apply`. If a right is missing, `lockstep check` names it";
    else if (std::string holders = holders_of(part.oid); !holders.empty())
      why = std::move(holders);
    sentences.push_back(warning("part_not_followed", {what, why}));
  }
  return sentences;
}

std::string PostgresOutboxMaintenance::holders_of(const std::string& part) {
  std::string holders;
  for (const pqxx::row& row :
       session_.ask("asking which sessions lock a part of a table", postgres_sql("part_holders"), part)) {
    const LockWait wait{{}, row[0].c_str(), row[1].as<int>(), row[2].c_str(), row[3].c_str()};
    holders += (holders.empty() ? "" : ", and ") + reason_of(wait);
  }
  return holders;
}

std::vector<Difference> PostgresOutboxMaintenance::find_differences() {
  PostgresTransaction transaction(session_, "looking for changes since the last apply");
  transaction.execute("set local lock_timeout = '100ms'");
  return lockstep::differences_from_applied(transaction, pipeline_.id(), schema_name_);
}

// A commit that comes between leaves the note to the next time.
void PostgresOutboxMaintenance::note(const DefinitionNote& note) {
  if (note.known == note.now) return;
  const pqxx::result noted =
      session_.ask("noting the definition of an index", "select {schema}.note_definition($1, $2, $3, $4)",
                   note.index, note.known, note.now, note.why);
  if (!note.why.empty() && noted[0][0].as<bool>())
    spdlog::info("{}: the index is compared with its view", note.why);
}

std::vector<std::string> PostgresOutboxMaintenance::differences_from_applied() {
  try {
    std::vector<std::string> found;
    for (Difference& difference : find_differences()) {
      if (difference.note) note(*difference.note);
      const bool is_settled = difference.text.empty() || (difference.note && !difference.note->why.empty());
      if (!is_settled) found.push_back(std::move(difference.text));
    }
    known_differences_ = std::move(found);
  } catch (const PostgresError& error) {
    // Another session is changing a table or a view at this moment.
    if (error.sqlstate() != sqlstate::kLockNotAvailable) throw;
  }
  std::vector<std::string> differences = known_differences_;
  for (std::string& sentence : unfollowed_parts()) differences.push_back(std::move(sentence));
  for (const pqxx::row& row : session_.ask("looking for rights that are lent", postgres_sql("rights_at_risk"),
                                           pipeline_.id(), schema_name_)) {
    differences.push_back(stored_warning(row[0].c_str(), row[1].c_str()));
  }
  PostgresTransaction direct(session_, "asking which session leads", Isolation::kEachStatement);
  for (const LeadLock& lock : lead_locks(direct, pipeline_.applied.identity)) {
    if (!lock.holder.is_lockstep) differences.push_back(in_words(lock.holder));
  }
  return differences;
}

}  // namespace lockstep
