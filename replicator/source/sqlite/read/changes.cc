#include "replicator/source/sqlite/read/changes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/sqlite/read/json_text.h"
#include "replicator/source/sqlite/session/statement.h"

namespace lockstep {
namespace {

constexpr const char* kReading = "reading the outbox";

// Whether no capture of any pipeline can have written a row.
bool is_unknown(SqliteConnection& connection, CaptureId capture, std::int64_t row) {
  SqliteStatement known(connection, kReading,
                        "select 1 where exists (select 1 from {schema}_capture where id = ?1) "
                        "or ?2 <= (select max(applied_id) from {schema}_pipeline)",
                        capture.value, row);
  return !known.step();  // rows of captures that an apply has dropped are older than it
}

}  // namespace

std::int64_t newest_outbox_id(SqliteConnection& connection) {
  SqliteStatement newest(connection, kReading, "select max(id) from {schema}_outbox");
  newest.step();
  return newest[0].optional_integer().value_or(0);
}

Changes read_rows(SqliteConnection& connection, const SqlitePipeline& pipeline, const SqliteRows& rows,
                  std::int64_t max_values) {
  Changes changes;
  std::map<CaptureId, std::pair<std::unordered_set<std::string>, bool>> changed;
  std::set<CaptureId> unknown;
  std::int64_t last = rows.behind;
  SqliteStatement row(connection, kReading,
                      "select id, capture, value from {schema}_outbox where id > ?1 and id <= ?2 "
                      "order by id limit ?3",
                      rows.behind, rows.up_to, max_values);
  std::int64_t values = 0;
  while (values < max_values && row.step()) {
    last = row[0].integer();
    ++changes.rows;
    ++values;
    const CaptureId capture{static_cast<int>(row[1].integer())};
    const auto own = pipeline.captures.find(capture);
    if (own == pipeline.captures.end()) {
      if (is_unknown(connection, capture, last)) unknown.insert(capture);
    } else if (!row[2].is_null() || own->second.columns == 1) {  // of several, triggers write no null
      std::optional<std::string> value = outbox_value_text(connection, row[2], own->second.columns);
      auto& [texts, everything] = changed[capture];
      if (value) {
        values += std::max<std::int64_t>(0, std::ssize(*value) / kBytesOfOneValue - 1);
        texts.insert(*std::move(value));
      } else {
        everything = true;  // no trigger wrote it, and its row is unknown
      }
    }
  }
  for (auto& [capture, rows_of_capture] : changed) {
    auto& [texts, everything] = rows_of_capture;
    CapturedChange change;
    change.capture = capture;
    change.everything = everything;
    while (!texts.empty()) change.values.push_back(std::move(texts.extract(texts.begin()).value()));
    changes.captured.push_back(std::move(change));
  }
  changes.unknown_captures.assign(unknown.begin(), unknown.end());
  changes.more = values >= max_values && last < rows.up_to;
  changes.next = position_at(changes.more ? last : rows.up_to);
  return changes;
}

Changes read_outbox(SqliteConnection& connection, const SqlitePipeline& pipeline, std::int64_t from,
                    const ChunkLimits& limits) {
  const std::int64_t newest = newest_outbox_id(connection);
  const SqliteRows behind{from, newest};
  const std::int64_t left = newest - from;  // ids have no gap
  if (limits.transaction_values && left > limits.values && left > *limits.transaction_values) {
    Changes large;
    large.large = behind.to_transaction();
    large.rows = 1;
    large.next = position_at(newest);
    return large;
  }
  return read_rows(connection, pipeline, behind, limits.values);
}

}  // namespace lockstep
