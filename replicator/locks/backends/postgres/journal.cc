#include "replicator/locks/backends/postgres/journal.h"

#include <algorithm>
#include <utility>

#include "replicator/locks/backends/postgres/values.h"
#include "replicator/locks/stored_value.h"

namespace lockstep {
namespace {

/// The columns of an entry "o" that entry_of() reads.
const std::string kEntryColumns =
    "o.id, o.kind, o.source, o.destination, o.target, o.shared::text, o.exclusive::text, o.state, o.owner,"
    " o.epoch, " +
    milliseconds_sql("o.lease_until") +
    ", coalesce(o.token, 0), coalesce(o.commit, 0), o.task, o.progress, o.reason, o.version";

void read_names(const pqxx::field& names, LockMode mode, LockSet& locks) {
  for (std::string& name : parse_array(names.c_str()))
    locks.push_back({LockName::as_stored(std::move(name)), mode});
}

/// kEntryColumns begin at column `first`.
Operation entry_of(const pqxx::row& row, pqxx::row::size_type first = 0) {
  auto field = [&, at = first]() mutable { return row[at++]; };
  Operation entry;
  entry.id = field().c_str();
  entry.intent.kind = stored_kind(entry.id, field().c_str());
  entry.intent.from = field().c_str();
  entry.intent.to = field().c_str();
  entry.intent.target = field().c_str();
  read_names(field(), LockMode::kShared, entry.locks);
  read_names(field(), LockMode::kExclusive, entry.locks);
  entry.locks = lock_set(std::move(entry.locks));
  entry.state = stored_state(entry.id, field().c_str());
  entry.owner = field().c_str();
  entry.epoch = field().as<std::int64_t>();
  entry.lease_until = server_time(field());
  entry.token = field().as<std::int64_t>();
  entry.commit = field().as<std::int64_t>();
  entry.task = field().c_str();
  entry.progress = field().as<std::int64_t>();
  entry.reason = field().c_str();
  entry.version.number = field().as<std::int64_t>();
  return entry;
}

/// For a database in another encoding than UTF-8: names the first text that it lacks characters of. `target`
/// as it was to be stored.
Error cannot_be_held(PostgresLockSession& session, const std::string& doing, const Operation& operation,
                     const std::string& target) {
  std::vector<std::string> texts = {operation.intent.from, operation.intent.to, target};
  for (const LockRequest& request : operation.locks) texts.push_back(request.name.text());
  const std::vector<bool> held = session.can_hold(doing, texts);
  const auto first = std::find(held.begin(), held.end(), false);
  const std::string what =
      first == held.end() ? "a name" : texts.at(static_cast<std::size_t>(first - held.begin()));
  return Error({doing, "the encoding of the database lacks characters of " + what,
                "use another name, or a database with the encoding UTF8"});
}

}  // namespace

void PostgresJournal::open(Operation& operation) {
  static const std::string statement =
      "insert into {schema}.operation as o (id, kind, source, destination, target, shared, exclusive, owner,"
      " lease_until) values ($1, $2, $3, $4, $5, $6::text[], $7::text[], $1,"
      " clock_timestamp() + $8::bigint * interval '1 millisecond')"
      " on conflict (id) do update set id = excluded.id returning o.version, " +
      milliseconds_sql("o.lease_until");
  const std::string doing = "opening the operation " + operation.id;
  const OperationIntent& intent = operation.intent;
  // A command is only there to be read. The index of a tree shows others what they can finish.
  const std::string target =
      operation.needs_roll_forward() ? intent.target : session_.storable(intent.target);
  pqxx::result rows;
  try {
    rows = session_.run(doing, statement, operation.id, intent.kind, intent.from, intent.to, target,
                        names_literal(operation.locks, LockMode::kShared),
                        names_literal(operation.locks, LockMode::kExclusive), lease_.count());
  } catch (const PostgresError& error) {
    if (error.sqlstate() != sqlstate::kUntranslatable) throw;
    throw cannot_be_held(session_, doing, operation, target);
  }
  operation.owner = operation.id;
  operation.version.number = rows[0][0].as<std::int64_t>();
  operation.lease_until = server_time(rows[0][1]);
}

std::optional<Operation> PostgresJournal::write(const Operation& changed, JournalVersion expected) {
  static const std::string statement =
      "select version, " + milliseconds_sql("lease_until") +
      ", coalesce(token, 0) from {schema}.step($1, $2::bigint, $3::bigint * interval '1 millisecond',"
      " $4, $5, $6::bigint, $7, $8::text[], $9::text[])";
  const pqxx::result rows = session_.run(
      "writing the operation " + changed.id + " to the journal", statement, changed.id, expected.number,
      lease_.count(), std::string(text_of(changed.state)), changed.task, changed.progress,
      session_.storable(changed.reason), names_literal(changed.locks, LockMode::kShared),
      names_literal(changed.locks, LockMode::kExclusive));
  if (rows.empty()) return std::nullopt;
  Operation written = changed;
  written.version.number = rows[0][0].as<std::int64_t>();
  written.lease_until = server_time(rows[0][1]);
  if (written.state == OperationState::kRunning && written.commit == 0)
    written.token = written.commit = rows[0][2].as<std::int64_t>();
  return written;
}

FencingToken PostgresJournal::draw(FencingToken above) {
  static const std::string statement =
      "update {schema}.token set last = greatest(last + 1, $1::bigint + 1,"
      " (extract(epoch from clock_timestamp()) * 1000)::bigint) returning last";
  return session_.run("drawing a fencing token", statement, above)[0][0].as<std::int64_t>();
}

Resolution PostgresJournal::seize(const Operation& found, const std::string& by, Adoption adoption) {
  if (found.resolved()) return {Resolution::Kind::kGone, {}, found};
  static const std::string statement =
      "select s.answer, " + kEntryColumns +
      " from {schema}.seize($1, $2::bigint, $3, $4::bigint * interval '1 millisecond', $5::boolean) as s"
      " cross join lateral (select (s.operation).*) as o";
  const pqxx::result rows =
      session_.run("resolving the operation " + found.id, statement, found.id, found.version.number, by,
                   lease_.count(), adoption == Adoption::kAllowed);
  if (rows.empty()) throw has_changed(found);
  const std::string answer = rows[0][0].c_str();
  Operation entry = entry_of(rows[0], 1);
  const ServerTime until = entry.lease_until;
  if (answer == "alive") return {Resolution::Kind::kAlive, until, {}};
  if (answer == "dead") return {Resolution::Kind::kNeedsRollForward, until, std::move(entry)};
  if (answer == "adopted") return {Resolution::Kind::kAdopted, until, std::move(entry)};
  if (answer == "over" || answer == "aborted") return {Resolution::Kind::kGone, {}, std::move(entry)};
  throw unknown_value("the outcome of the operation " + found.id, "answer", answer);
}

bool PostgresJournal::abort(const Operation& found, const std::string& by, const std::string& reason) {
  const pqxx::result rows = session_.run(
      "aborting the operation " + found.id,
      "update {schema}.operation set state = 'aborted', owner = $3, reason = $4, version = version + 1"
      " where id = $1 and version = $2::bigint",
      found.id, found.version.number, by, session_.storable(reason));
  return rows.affected_rows() == 1;
}

std::optional<Operation> PostgresJournal::find(const std::string& id) {
  static const std::string statement =
      "select " + kEntryColumns + " from {schema}.operation as o where o.id = $1";
  const pqxx::result rows = session_.run("reading the operation " + id, statement, id);
  if (rows.empty()) return std::nullopt;
  return entry_of(rows[0]);
}

std::vector<Operation> PostgresJournal::unresolved(const Unreadable& unreadable) {
  static const std::string statement =
      "select " + kEntryColumns +
      " from {schema}.operation as o where o.state not in ('done', 'aborted') order by o.lease_until limit " +
      std::to_string(kMaxUnresolved);
  std::vector<Operation> operations;
  for (const pqxx::row& row : session_.run("reading the journal", statement)) {
    try {
      operations.push_back(entry_of(row));
    } catch (const Error& error) {
      unreadable(error);
    }
  }
  return operations;
}

void PostgresJournal::erase(const Operation& operation) {
  session_.run("removing the operation " + operation.id + " from the journal",
               "delete from {schema}.operation where id = $1 and version = $2::bigint", operation.id,
               operation.version.number);
}

void PostgresJournal::prune(std::chrono::milliseconds age) {
  session_.run("pruning the journal",
               "delete from {schema}.operation where state in ('done', 'aborted')"
               " and lease_until < clock_timestamp() - $1::bigint * interval '1 millisecond'",
               age.count());
}

}  // namespace lockstep
