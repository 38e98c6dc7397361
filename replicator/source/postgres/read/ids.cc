#include "replicator/source/postgres/read/ids.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>

#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/encoding.h"

namespace lockstep {
namespace {

bool has_text_ids(const PostgresIndex& index) {
  return index.id_type == "text" || index.id_type == "character varying";
}

template <typename Integer>
constexpr std::pair<std::int64_t, std::int64_t> kRange{std::numeric_limits<Integer>::min(),
                                                       std::numeric_limits<Integer>::max()};

// REQUIRES: the _id is of an integer type.
std::pair<std::int64_t, std::int64_t> range_of(const PostgresIndex& index) {
  if (index.id_type == "smallint") return kRange<std::int16_t>;
  if (index.id_type == "integer") return kRange<std::int32_t>;
  return kRange<std::int64_t>;
}

// As PostgreSQL writes one: no other text is equal to it.
bool is_integer(std::string_view text, const std::pair<std::int64_t, std::int64_t>& range) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || std::to_string(value) != text) return false;
  return value >= range.first && value <= range.second;
}

// Likewise.
bool is_uuid(std::string_view text) {
  constexpr std::string_view kForm = "00000000-0000-0000-0000-000000000000";
  return std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), [](char c, char form) {
    return form == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

// The rows of `statement`; none if that takes longer. A resolver gives nothing before it has found
// everything: PL/pgSQL keeps the rows of "return query" until the end, and most orders need all rows.
std::optional<pqxx::result> run_briefly(PostgresTransaction& transaction, const Doing& doing,
                                        const std::string& statement, std::chrono::milliseconds time) {
  transaction.execute(doing,
                      "savepoint search; set local statement_timeout = " + std::to_string(time.count()));
  std::optional<pqxx::result> rows;
  try {
    rows = transaction.run_once(doing, statement);
  } catch (const PostgresError& error) {
    if (error.sqlstate() != sqlstate::kQueryCanceled) throw;
  }
  transaction.execute(doing, "rollback to savepoint search; release savepoint search");
  return rows;
}

DocumentIds ids_of(const Values& values) {
  DocumentIds ids;
  ids.reserve(values.size());
  for (const std::string& value : values) ids.push_back({value});
  return ids;
}

}  // namespace

std::string castable_id(const PostgresIndex& index, std::string_view text) {
  const std::string value(text);
  if (has_text_ids(index)) return value;
  if (index.id_type == "uuid") {
    return "case when " + value + " ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then " + value +
           "::uuid end";
  }
  const auto [least, greatest] = range_of(index);
  // Nested, because the order in which PostgreSQL evaluates the parts of an "and" is not defined.
  return "case when " + value + " ~ '^(0|-?[1-9][0-9]{0,18})$' then case when " + value +
         "::numeric between " + std::to_string(least) + " and " + std::to_string(greatest) + " then " +
         value + "::bigint end end";
}

std::string_view castable_type(const PostgresIndex& index) {
  if (has_text_ids(index)) return "text";
  return index.id_type == "uuid" ? "uuid" : "bigint";
}

std::vector<bool> can_be_ids(PostgresTransaction& transaction, const PostgresIndex& index,
                             const DocumentIds& ids) {
  if (has_text_ids(index)) {
    std::vector<std::string> texts;
    texts.reserve(ids.size());
    for (const DocumentId& id : ids) texts.push_back(id.text);
    return can_be_held(transaction, texts);
  }
  const bool are_uuids = index.id_type == "uuid";
  std::vector<bool> can_be(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    can_be[i] = are_uuids ? is_uuid(ids[i].text) : is_integer(ids[i].text, range_of(index));
  return can_be;
}

std::string ids_query(const PostgresTransaction& transaction, const PostgresIndex& index,
                      const std::vector<CapturedChange>& changes) {
  std::string query;
  for (const PostgresTrack& track : index.tracks) {
    for (const CapturedChange& change : changes) {
      if (change.capture != track.capture) continue;
      if (!query.empty()) query += " union all ";
      const std::string values = transaction.quote(array_literal(change.values));
      if (track.resolver.empty()) {
        query += "select k from unnest(" + values + "::text[]) as k";
      } else {
        query += "select k from " + track.resolver + "(" + values + "::" + track.value_type + "[]) as k";
      }
    }
  }
  return query;
}

std::optional<DocumentIds> find_ids(PostgresTransaction& transaction, const PostgresIndex& index,
                                    const std::vector<CapturedChange>& changes, const SearchLimits& limits) {
  std::vector<const CapturedChange*> own;
  bool values_are_ids = true;
  for (const CapturedChange& change : changes) {
    bool leads_here = false;
    for (const PostgresTrack& track : index.tracks) {
      if (track.capture != change.capture) continue;
      leads_here = true;
      if (!track.resolver.empty()) values_are_ids = false;
    }
    if (leads_here) own.push_back(&change);
  }
  if (own.empty()) return DocumentIds{};
  if (values_are_ids && own.size() == 1) {
    if (static_cast<std::int64_t>(own[0]->values.size()) > limits.documents) return std::nullopt;
    return ids_of(own[0]->values);
  }
  const std::string statement = "select distinct k from (" + ids_query(transaction, index, changes) +
                                ") as u(k) where k is not null limit " + std::to_string(limits.documents + 1);
  const std::optional<pqxx::result> found = reading_view(index, [&] {
    return run_briefly(transaction, Doing("finding documents of " + index.alias), statement, limits.time);
  });
  if (!found || static_cast<std::int64_t>(found->size()) > limits.documents) return std::nullopt;
  DocumentIds ids;
  ids.reserve(found->size());
  for (const pqxx::row& row : *found) ids.push_back({std::string(row[0].c_str(), row[0].size())});
  return ids;
}

}  // namespace lockstep
