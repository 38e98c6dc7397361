#include "replicator/source/sqlite/read/lead.h"

#include <string>

#include "replicator/error.h"
#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"

namespace lockstep {
namespace {

constexpr std::string_view kCheckpoint = "checkpoint";
constexpr std::int64_t kMarks = 1'000;  // that are kept; one a minute at most is left

SqliteStatement& required_row(SqliteStatement& row, const char* doing) {
  if (row.step()) return row;
  throw Error({doing, "the pipeline has no checkpoint", "run `lockstep apply`"});
}

}  // namespace

bool SqliteLead::try_lead() {
  connection_.require_same_file();
  is_ours_ = lock_.try_exclusive();
  return is_ours_;
}

bool SqliteLead::is_led() {
  return is_ours_ || lock_.is_held_elsewhere();
}

SourceIdentity SqliteLead::identity() {
  constexpr const char* kDoing = "asking for the source's identity";
  SqliteSnapshot snapshot(connection_, kDoing);
  if (!history_.goes_on(connection_, pipeline_.id())) {
    snapshot.end();
    throw note_gone_back(connection_);
  }
  SqliteStatement row(connection_, kDoing, "select token, mark from {schema}_file");
  if (!row.step()) throw Error({kDoing, "lockstep's table file is empty", "run `lockstep apply`"});
  SourceIdentity identity{connection_.file().place(), stored_text(row[1], "file"),
                          newest_outbox_id(connection_), stored_text(row[0], "file")};
  SqliteStatement marks(connection_, kDoing,
                        "select mark from {schema}_mark where pipeline = ?1 order by number", pipeline_.id());
  while (marks.step()) identity.marks.push_back(std::to_string(marks[0].integer()));
  return identity;
}

void SqliteLead::leave_mark(Epoch epoch) {
  constexpr const char* kDoing = "leaving a mark in the source";
  const std::int64_t number = SqliteHistory::next();
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing,
                  "update {schema}_checkpoint set saved = ?3 where pipeline = ?1 and epoch = ?2 "
                  "and saved = coalesce(?4, saved)",
                  pipeline_.id(), epoch.value, number, history_.last())
      .run();
  if (connection_.changes() == 0) return;  // the next look at the history reports why
  add_mark(number);
  write.commit(kDoing);
  history_.saved(epoch, number);
  connection_.sync();
}

// An index carries one of the newest.
void SqliteLead::add_mark(std::int64_t number) {
  constexpr const char* kDoing = "leaving a mark in the source";
  SqliteStatement(connection_, kDoing,
                  "insert into {schema}_mark (pipeline, number, mark) select ?1, "
                  "coalesce(max(number), 0) + 1, ?2 from {schema}_mark where pipeline = ?1",
                  pipeline_.id(), number)
      .run();
  SqliteStatement(connection_, kDoing,
                  "delete from {schema}_mark where pipeline = ?1 and number <= "
                  "(select max(number) from {schema}_mark where pipeline = ?1) - ?2",
                  pipeline_.id(), kMarks)
      .run();
}

Epoch SqliteLead::epoch() {
  return stored_epoch(connection_, pipeline_.id());
}

KnownPartners SqliteLead::known_partners() {
  constexpr const char* kDoing = "loading the identities of both sides";
  SqliteStatement row(connection_, kDoing, "select partners from {schema}_checkpoint where pipeline = ?1",
                      pipeline_.id());
  return partners_in(stored_text(required_row(row, kDoing)[0], kCheckpoint));
}

Epoch SqliteLead::raise_epoch(Epoch at_least, const KnownPartners& partners) {
  constexpr const char* kDoing = "raising the epoch";
  const std::int64_t number = SqliteHistory::next();
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing,
                  "update {schema}_checkpoint set epoch = max(coalesce(epoch, 0), ?2) + 1, saved = ?5, "
                  "partners = json_object('place', ?3, 'targets', json(?4)) where pipeline = ?1",
                  pipeline_.id(), at_least.value, partners.place, targets_text(partners), number)
      .run();
  add_mark(number);
  const Epoch raised = stored_epoch(connection_, pipeline_.id());
  write.commit(kDoing);
  history_.saved(raised, number);
  connection_.sync();
  return raised;
}

void SqliteLead::note_quiet(Epoch epoch, bool landed) {
  constexpr const char* kDoing = "noting that nothing is on its way";
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing,
                  "update {schema}_checkpoint "
                  "set partners = json_set(partners, '$.quiet', json('true'), '$.landed', json(?3)) "
                  "where pipeline = ?1 and epoch = ?2",
                  pipeline_.id(), epoch.value, landed ? "true" : "false")
      .run();
  write.commit(kDoing);
  connection_.sync();
}

Epoch stored_epoch(SqliteConnection& connection, int pipeline) {
  constexpr const char* kDoing = "loading the epoch";
  SqliteStatement row(connection, kDoing, "select epoch from {schema}_checkpoint where pipeline = ?1",
                      pipeline);
  return {stored_integer(required_row(row, kDoing)[0], kCheckpoint)};
}

}  // namespace lockstep
