#include "replicator/source/postgres/read/ids.h"

#include "replicator/source/postgres/session/array.h"

namespace lockstep {
namespace {

bool is_text(const AppliedIndex& index) {
  return index.id_type == "text" || index.id_type.starts_with("character varying");
}

// The range of an integer type; of bigint for every other.
std::string_view range_of(const AppliedIndex& index) {
  if (index.id_type == "smallint") return "-32768 and 32767";
  if (index.id_type == "integer") return "-2147483648 and 2147483647";
  return "-9223372036854775808 and 9223372036854775807";
}

}  // namespace

std::string castable_id(const AppliedIndex& index, std::string_view text) {
  const std::string value(text);
  if (is_text(index)) return value;
  if (index.id_type == "uuid") {
    return "case when " + value + " ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then " + value +
           "::uuid end";
  }
  // Nested, because the order in which the parts of an "and" are evaluated is not defined.
  return "case when " + value + " ~ '^(0|-?[1-9][0-9]{0,18})$' then case when " + value +
         "::numeric between " + std::string(range_of(index)) + " then " + value + "::bigint end end";
}

std::string_view castable_type(const AppliedIndex& index) {
  if (is_text(index)) return "text";
  return index.id_type == "uuid" ? "uuid" : "bigint";
}

std::string ids_query(const pqxx::transaction_base& transaction, const AppliedIndex& index,
                      const std::vector<CapturedChange>& changes) {
  std::string query;
  for (const AppliedTrack& track : index.tracks) {
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

void reading_view(const AppliedIndex& index, const std::string& doing, const std::function<void()>& step) {
  try {
    translating_postgres_errors(doing + " of " + index.alias, step);
  } catch (const Error& error) {
    if (error.retryable()) throw;
    throw ViewError(error.parts(), index.id);
  }
}

}  // namespace lockstep
