#include "replicator/source/sqlite/read/ids.h"

#include <limits>
#include <unordered_set>
#include <utility>

#include "replicator/hex.h"
#include "replicator/source/sqlite/read/json_text.h"
#include "replicator/source/sqlite/session/exact_value.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/time_limit.h"

namespace lockstep {
namespace {

// The parameter of a query. One of the configuration's own reads json_each() as it is.
std::string argument_of(const SqliteIndex& index, const std::string& query, const Values& values) {
  std::string exact = json_array(values);
  if (reads_exact_values(query)) return exact;
  if (std::optional<std::string> json = as_plain_json(exact)) return *std::move(json);
  throw ViewError(
      {"finding documents of " + index.alias,
       "a row has changed whose value has a NUL in it, and json_each() would cut it there",
       "nothing is lost: the index is compared with its view. For a track without `keys` there is no "
       "such limit",
       Retry::kNever, Server::kSource},
      index.id);
}

std::string required_id(const SqliteIndex& index, const std::string& value) {
  if (std::optional<std::string> id = id_of_value(value)) return *std::move(id);
  throw ViewError({"finding documents of " + index.alias,
                   "a row has changed whose key has several columns, " + value + ", which is no _id",
                   "write the _id that its columns make into its track, row = \"json_array(…)\", then run "
                   "`lockstep apply`",
                   Retry::kNever, Server::kSource},
                  index.id);
}

// Changes that name no rows lead to all documents, which is more than a list can have.
void require_named_rows(const SqliteIndex& index, const CapturedChange& change) {
  if (!change.everything) return;
  throw ViewError({"finding documents of " + index.alias,
                   "the outbox has a row of capture " + std::to_string(change.capture.value) +
                       " that no trigger of lockstep's has written",
                   "nothing is lost: the index is compared with its view", Retry::kNever, Server::kSource},
                  index.id);
}

// The values that a query gives, as value_text() has them; without a query those that the outbox has.
std::vector<std::string> values_of(SqliteConnection& connection, const SqliteIndex& index,
                                   const SqliteCapture& capture, const Values& captured,
                                   const std::string& doing) {
  if (!capture.query) return captured;
  std::vector<std::string> values;
  SqliteStatement rows(connection, doing, SqliteText{*capture.query},
                       argument_of(index, *capture.query, captured));
  while (rows.step()) {
    values.push_back(rows[0].is_null() ? kNullValue : value_text(rows[0]));
  }
  return values;
}

}  // namespace

bool can_be_id(const SqliteIndex& index, const std::string& id) {
  return index.id_type != SqliteIndex::IdType::kInteger || is_integer_text(id);
}

// If ids have several types, 5 and '5' are both asked for, and the blob x'05' for 05; the view has at most
// one of them, or two documents of one id.
std::string comparable_ids(const SqliteIndex& index, const DocumentIds& ids) {
  std::vector<std::string> values;
  for (const DocumentId& id : ids) {
    const bool may_be_number = index.id_type != SqliteIndex::IdType::kText;
    const bool is_number = may_be_number && (is_integer_text(id.text) || is_real_text(id.text));
    if (is_number && can_be_id(index, id.text)) values.push_back(id.text);
    if (index.id_type == SqliteIndex::IdType::kInteger) continue;
    append_exact_text(values.emplace_back(), id.text);
    if (index.id_type == SqliteIndex::IdType::kText) continue;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double infinity : {kInfinity, -kInfinity}) {
      if (id.text == infinity_text(infinity)) append_exact_infinity(values.emplace_back(), infinity);
    }
    const std::optional<std::string> bytes = bytes_of_hex(id.text);
    if (bytes && hex_of(*bytes) == id.text) append_exact_blob(values.emplace_back(), *bytes);
  }
  return json_array(values);
}

void for_each_id(SqliteConnection& connection, const SqlitePipeline& pipeline, const SqliteIndex& index,
                 const std::vector<CapturedChange>& changes,
                 const std::function<bool(std::string id)>& sink) {
  const std::string doing = "finding documents of " + index.alias;
  for (const SqliteTrack& track : index.tracks) {
    for (const CapturedChange& change : changes) {
      if (change.capture != track.capture) continue;
      require_named_rows(index, change);
      const std::vector<std::string> values =
          values_of(connection, index, pipeline.captures.at(track.capture), change.values, doing);
      if (!track.resolver) {
        for (const std::string& value : values) {
          if (value == kNullValue) continue;  // no document has that _id
          if (!sink(required_id(index, value))) return;
        }
        continue;
      }
      SqliteStatement rows(connection, doing, SqliteText{*track.resolver},
                           argument_of(index, *track.resolver, values));
      while (rows.step()) {
        if (!rows[0].is_null() && !sink(id_text(rows[0]))) return;
      }
    }
  }
}

std::optional<DocumentIds> find_ids(SqliteConnection& connection, const SqlitePipeline& pipeline,
                                    const SqliteIndex& index, const std::vector<CapturedChange>& changes,
                                    const SearchLimits& limits) {
  std::unordered_set<std::string> found;
  const auto note = [&](std::string id) {
    found.insert(std::move(id));
    return static_cast<std::int64_t>(found.size()) <= limits.documents;
  };
  try {
    const SqliteTimeLimit time(connection, limits.time);
    reading_view(index, [&] { for_each_id(connection, pipeline, index, changes, note); });
  } catch (const SqliteError& error) {
    if (is_interrupted(error)) return std::nullopt;
    throw;
  }
  if (static_cast<std::int64_t>(found.size()) > limits.documents) return std::nullopt;
  DocumentIds ids;
  ids.reserve(found.size());
  while (!found.empty()) ids.push_back({std::move(found.extract(found.begin()).value())});
  return ids;
}

}  // namespace lockstep
