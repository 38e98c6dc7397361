#include "replicator/source/sqlite/read/dead_letter_box.h"

#include <string>
#include <vector>

#include "replicator/source/sqlite/read/json_text.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/wall_time.h"

namespace lockstep {
namespace {

constexpr std::string_view kDeadLetterTable = "dead_letter";

// The dead letters that a person means: ?1 indices, ?2 ids, empty for any, ?3 error type or part of the
// reason, empty for any, ?4 and ?5 last refused since and until, null for any time. The greatest of what
// texts of times can be ends no range.
const std::string kMatching =
    "index_id in (select value from json_each(?1)) "
    "and (json_array_length(?2) = 0 or id in (select lockstep_value(value) from json_each(?2))) "
    "and (?3 = '' or lower(error_type) = lower(?3) or instr(lower(reason), lower(?3)) > 0) "
    "and last_at >= coalesce(?4, '') and last_at <= coalesce(?5, 'a')";

constexpr const char* kColumns = "index_id, id, routing, version, status, error_type, reason";

// As SQLite's strftime() has it.
std::optional<std::string> text_of(const std::optional<WallTime>& time) {
  return time ? std::optional(utc_text(*time)) : std::nullopt;
}

std::string indices_of(const std::vector<IndexId>& indices) {
  std::vector<std::string> numbers;
  for (const IndexId index : indices) numbers.push_back(std::to_string(index.value));
  return json_array(numbers);
}

// The first columns of a row, kColumns.
DeadLetter letter_of(const SqliteStatement& row) {
  DeadLetter letter;
  letter.index = {static_cast<int>(row[0].integer())};
  letter.id = {std::string(row[1].text())};
  letter.routing = row[2].text();
  letter.version = DocumentVersion::from_value(stored_integer(row[3], kDeadLetterTable));
  letter.status = static_cast<int>(stored_integer(row[4], kDeadLetterTable));
  letter.error_type = stored_text(row[5], kDeadLetterTable);
  letter.reason = stored_text(row[6], kDeadLetterTable);
  return letter;
}

void bind(SqliteStatement& statement, const DeadLetterFilter& filter) {
  statement.bind(1, indices_of(filter.indices));
  statement.bind(2, json_array_of_texts(filter.ids));
  statement.bind(3, filter.error);
  statement.bind(4, text_of(filter.since));
  statement.bind(5, text_of(filter.until));
}

}  // namespace

std::int64_t SqliteDeadLetterBox::count(const DeadLetterFilter& filter) {
  SqliteStatement row(connection_, "counting dead letters",
                      "select count(*) from {schema}_dead_letter where " + kMatching);
  bind(row, filter);
  row.step();
  return row[0].integer();
}

std::vector<StoredDeadLetter> SqliteDeadLetterBox::find(const DeadLetterFilter& filter,
                                                        const std::optional<DeadLetter>& after,
                                                        std::int64_t limit) {
  // Before the first one: indices are numbered from 1.
  const DeadLetter behind = after.value_or(DeadLetter{});
  SqliteStatement row(
      connection_, "looking for dead letters",
      std::string("select ") + kColumns + ", first_at, last_at, tries from {schema}_dead_letter where " +
          kMatching + " and (index_id, id, routing) > (?6, ?7, ?8) order by index_id, id, routing limit ?9");
  bind(row, filter);
  row.bind(6, behind.index.value);
  row.bind(7, behind.id.text);
  row.bind(8, behind.routing);
  row.bind(9, limit);
  std::vector<StoredDeadLetter> letters;
  while (row.step()) {
    letters.push_back({letter_of(row), stored_text(row[7], kDeadLetterTable),
                       stored_text(row[8], kDeadLetterTable),
                       static_cast<int>(stored_integer(row[9], kDeadLetterTable))});
  }
  return letters;
}

// Ten seconds, twice as long with each try, an hour at most.
std::vector<DeadLetter> SqliteDeadLetterBox::find_due(const std::vector<IndexId>& indices,
                                                      std::int64_t limit) {
  SqliteStatement row(connection_, "looking for dead letters to try again",
                      std::string("select ") + kColumns +
                          " from {schema}_dead_letter where index_id in (select value from json_each(?1)) "
                          "and (status in (0, 408, 429) or status >= 500) "
                          "and julianday(last_at) <= julianday('now') - "
                          "min(3600, 10 << min(tries, 10) - 1) / 86400.0 order by last_at limit ?2",
                      indices_of(indices), limit);
  std::vector<DeadLetter> letters;
  while (row.step()) letters.push_back(letter_of(row));
  return letters;
}

std::int64_t SqliteDeadLetterBox::discard(const DeadLetterFilter& filter) {
  constexpr const char* kDoing = "discarding dead letters";
  SqliteWrite write(connection_, kDoing);
  {
    SqliteStatement statement(connection_, kDoing, "delete from {schema}_dead_letter where " + kMatching);
    bind(statement, filter);
    statement.run();
  }
  const std::int64_t discarded = connection_.changes();
  write.commit(kDoing);
  connection_.sync();
  return discarded;
}

}  // namespace lockstep
