#include "replicator/source/postgres/read/dead_letter_box.h"

#include <string>

#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/wall_time.h"

namespace lockstep {
namespace {

constexpr std::string_view kDeadLetterTable = "dead_letter";

// PostgreSQL keeps no more.
std::optional<std::string> text_of(const std::optional<WallTime>& time) {
  return time ? std::optional(utc_text_to_the_microsecond(*time)) : std::nullopt;
}

// The first seven columns of a row of `find_dead_letters` or `find_due_dead_letters`.
DeadLetter letter_of(const pqxx::row& row) {
  DeadLetter letter;
  letter.index = {row[0].as<int>()};
  letter.id = {row[1].c_str()};
  letter.routing = row[2].c_str();
  letter.version = DocumentVersion::from_value(stored<std::int64_t>(row[3], kDeadLetterTable));
  letter.status = stored<int>(row[4], kDeadLetterTable);
  letter.error_type = stored<std::string>(row[5], kDeadLetterTable);
  letter.reason = stored<std::string>(row[6], kDeadLetterTable);
  return letter;
}

}  // namespace

template <typename... Parameters>
pqxx::result PostgresDeadLetterBox::run(std::string_view doing, std::string_view statement,
                                        const DeadLetterFilter& filter, const Parameters&... parameters) {
  const std::string filled = fill_placeholders(
      statement, {{"schema", session_.schema()}, {"matching", postgres_sql("matching_dead_letters")}});
  PostgresTransaction direct(session_, doing, Isolation::kEachStatement);
  return direct.run_filled(Doing(doing), filled, ids_literal(filter.indices), ids_literal(filter.ids),
                           filter.error, text_of(filter.since), text_of(filter.until), parameters...);
}

WallTime PostgresDeadLetterBox::now() {
  const pqxx::result row =
      session_.ask("asking for the time", "select (extract(epoch from clock_timestamp()) * 1000000)::bigint");
  return WallTime(std::chrono::microseconds(row[0][0].as<std::int64_t>()));
}

std::int64_t PostgresDeadLetterBox::count(const DeadLetterFilter& filter) {
  return run("counting dead letters", "select count(*) from {schema}.dead_letter as d where {matching}",
             filter)[0][0]
      .as<std::int64_t>();
}

std::vector<StoredDeadLetter> PostgresDeadLetterBox::find(const DeadLetterFilter& filter,
                                                          const std::optional<DeadLetter>& after,
                                                          std::int64_t limit) {
  // Before the first one: indices are numbered from 1.
  const DeadLetter behind = after.value_or(DeadLetter{});
  std::vector<StoredDeadLetter> letters;
  for (const pqxx::row& row : run("looking for dead letters", postgres_sql("find_dead_letters"), filter,
                                  behind.index.value, behind.id.text, behind.routing, limit)) {
    StoredDeadLetter found;
    found.letter = letter_of(row);
    found.first_at = stored<std::string>(row[7], kDeadLetterTable);
    found.last_at = stored<std::string>(row[8], kDeadLetterTable);
    found.tries = stored<int>(row[9], kDeadLetterTable);
    letters.push_back(std::move(found));
  }
  return letters;
}

std::vector<DeadLetter> PostgresDeadLetterBox::find_due(const std::vector<IndexId>& indices,
                                                        std::int64_t limit) {
  std::vector<DeadLetter> letters;
  for (const pqxx::row& row :
       session_.ask("looking for dead letters to try again", postgres_sql("find_due_dead_letters"),
                    ids_literal(indices), limit)) {
    letters.push_back(letter_of(row));
  }
  return letters;
}

std::int64_t PostgresDeadLetterBox::discard(const DeadLetterFilter& filter) {
  return static_cast<std::int64_t>(
      run("discarding dead letters", "delete from {schema}.dead_letter as d where {matching}", filter)
          .affected_rows());
}

}  // namespace lockstep
