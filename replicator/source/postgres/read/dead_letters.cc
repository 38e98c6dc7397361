#include "replicator/source/postgres/read/dead_letters.h"

#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {

template <typename... Parameters>
pqxx::result PostgresDeadLetters::run(const char* doing, std::string_view statement,
                                      const DeadLetterFilter& filter, const Parameters&... parameters) {
  Values indices;
  for (const int index : filter.indices) indices.push_back(std::to_string(index));
  const std::string filled = fill_placeholders(
      statement, {{"schema", session_.schema()}, {"matching", postgres_sql("matching_dead_letters")}});
  pqxx::result result;
  translating_postgres_errors(doing, [&] {
    pqxx::nontransaction direct(session_.connection());
    result =
        direct.exec_prepared(session_.prepared(filled), array_literal(indices), array_literal(filter.ids),
                             filter.error, filter.since, filter.until, parameters...);
  });
  return result;
}

std::vector<StoredDeadLetter> PostgresDeadLetters::find(const DeadLetterFilter& filter,
                                                        const std::optional<DeadLetter>& after,
                                                        std::int64_t limit) {
  // Before the first: indices are numbered from 1.
  const DeadLetter behind = after.value_or(DeadLetter{});
  std::vector<StoredDeadLetter> letters;
  for (const pqxx::row& row : run("looking for dead letters", postgres_sql("find_dead_letters"), filter,
                                  behind.index, behind.id, behind.routing, limit)) {
    StoredDeadLetter stored;
    stored.letter = {row[0].as<int>(), row[1].c_str(),
                     row[2].c_str(),   DocumentVersion::from_value(row[3].as<std::int64_t>()),
                     row[4].as<int>(), row[5].c_str(),
                     row[6].c_str()};
    stored.first_at = row[7].c_str();
    stored.last_at = row[8].c_str();
    stored.tries = row[9].as<int>();
    letters.push_back(std::move(stored));
  }
  return letters;
}

std::int64_t PostgresDeadLetters::count(const DeadLetterFilter& filter) {
  return run("counting dead letters", "select count(*) from {schema}.dead_letter as d where {matching}",
             filter)[0][0]
      .as<std::int64_t>();
}

std::int64_t PostgresDeadLetters::discard(const DeadLetterFilter& filter) {
  return static_cast<std::int64_t>(
      run("discarding dead letters", "delete from {schema}.dead_letter as d where {matching}", filter)
          .affected_rows());
}

std::optional<std::string> PostgresDeadLetters::point_in_time(const std::string& text) {
  const auto read = [&](const char* statement) {
    std::optional<std::string> time;
    translating_postgres_errors("reading a time", [&] {
      try {
        pqxx::nontransaction direct(session_.connection());
        time = direct.exec_params1(statement, text)[0].c_str();
      } catch (const pqxx::data_exception&) {
        // No time to PostgreSQL, which says so as an error only.
      }
    });
    return time;
  };
  const std::optional<std::string> time = read("select $1::text::timestamptz::text");
  return time ? time : read("select (clock_timestamp() - $1::text::interval)::text");
}

}  // namespace lockstep
