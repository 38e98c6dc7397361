#include "replicator/source/postgres/read/changes.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

constexpr std::int64_t kBehindEveryRow = std::numeric_limits<std::int64_t>::max();

// The part of the statement that reads one transaction.
std::string late_part(const std::string& schema, std::uint64_t txid, std::int64_t after) {
  return fill_placeholders(
      postgres_sql("read_late_transaction"),
      {{"schema", schema}, {"txid", std::to_string(txid)}, {"after", std::to_string(after)}});
}

// Those that read transactions which have ended since the last batch was opened.
std::string late_parts(const std::string& schema, const PostgresPosition& at,
                       const std::vector<std::uint64_t>& late_transactions) {
  std::string parts;
  for (const std::uint64_t txid : late_transactions) {
    if (txid < at.last_txid) continue;
    parts += late_part(schema, txid, txid == at.last_txid ? at.last_id : 0);
  }
  return parts;
}

std::string reading_statement(const std::string& schema, const std::string& late) {
  return fill_placeholders(postgres_sql("read_outbox"),
                           {{"schema", schema}, {"one", std::to_string(kBytesOfOneValue)}, {"late", late}});
}

// A row of `read_outbox`.
struct OutboxRow {
  std::uint64_t txid = 0;
  std::int64_t id = 0;
  CaptureId capture;
  std::int64_t width = 0;           // how many values it has; long ones count as several
  std::optional<std::int64_t> age;  // in microseconds; none: it is behind the chunk
  std::optional<std::string_view> values;
  std::optional<std::string_view> at_of_others;  // none: its capture is ours

  // Steps from field to field: each that is asked for by its number is an object that owns the whole result.
  explicit OutboxRow(const pqxx::row& row) {
    pqxx::const_row_iterator field = row.begin();
    txid = field->as<std::uint64_t>();
    id = (++field)->as<std::int64_t>();
    capture = {(++field)->as<int>()};
    width = (++field)->as<std::int64_t>();
    if (!(++field)->is_null()) age = field->as<std::int64_t>();
    if (!(++field)->is_null()) values.emplace(field->c_str(), field->size());
    if (!(++field)->is_null()) at_of_others.emplace(field->c_str(), field->size());
  }

  bool is_within() const { return age.has_value(); }
};

using OutboxRows = std::vector<OutboxRow>;

std::vector<CapturedChange> by_capture(const OutboxRows& rows, std::size_t count) {
  struct Captured {
    std::vector<std::string_view> values;
    bool everything = false;
  };
  std::map<CaptureId, Captured> all;
  std::deque<std::string> parsed;  // the values that do not stand in the rows as they are
  for (std::size_t i = 0; i < count; ++i) {
    const OutboxRow& row = rows[i];
    if (row.at_of_others) continue;
    Captured& captured = all[row.capture];
    if (!row.values) {
      captured.everything = true;
    } else if (const std::optional<std::string_view> value = single_plain_value(*row.values)) {
      captured.values.push_back(*value);
    } else {
      for (std::string& each : parse_array(*row.values))
        captured.values.push_back(parsed.emplace_back(std::move(each)));
    }
  }
  std::vector<CapturedChange> changes;
  for (auto& [capture, captured] : all) {
    std::ranges::sort(captured.values);
    const auto end = std::unique(captured.values.begin(), captured.values.end());
    changes.push_back({capture, Values(captured.values.begin(), end), captured.everything});
  }
  return changes;
}

std::vector<CaptureId> unknown_captures(PostgresTransaction& transaction, const OutboxRows& rows,
                                        std::size_t count) {
  std::vector<CaptureId> captures;
  std::vector<std::string> written_at;
  for (std::size_t i = 0; i < count; ++i) {
    if (!rows[i].at_of_others) continue;
    captures.push_back(rows[i].capture);
    written_at.emplace_back(*rows[i].at_of_others);
  }
  std::vector<CaptureId> unknown;
  if (captures.empty()) return unknown;
  for (const pqxx::row& row :
       transaction.run(Doing("looking for unknown captures"), postgres_sql("find_unknown_captures"),
                       ids_literal(captures), array_literal(written_at)))
    unknown.push_back({row[0].as<int>()});
  return unknown;
}

// That of a row is below 0 when the server's clock was put back meanwhile.
std::chrono::microseconds oldest_age(const OutboxRows& rows, std::size_t count) {
  std::int64_t oldest = 0;
  for (std::size_t i = 0; i < count; ++i) oldest = std::max(oldest, *rows[i].age);
  return std::chrono::microseconds(oldest);
}

// Whether the transaction of a row has more values than `limit` from this row on.
bool is_large(PostgresTransaction& transaction, const OutboxRows& rows, std::size_t first,
              std::int64_t limit) {
  std::int64_t values = 0;
  for (std::size_t i = first; i < rows.size() && rows[i].txid == rows[first].txid; ++i)
    values += rows[i].width;
  if (values > limit) return true;
  const bool ends_here = rows.back().txid != rows[first].txid;
  return !ends_here && transaction
                           .run(Doing("looking how large a transaction is"), postgres_sql("goes_on_behind"),
                                std::to_string(rows[first].txid), rows[first].id, limit)[0][0]
                           .as<bool>();
}

// Adds the rows up, and moves `at` to the last of them that counts: a large transaction at the end does not.
Changes changes_of(PostgresTransaction& transaction, const pqxx::result& result, std::int64_t max_rows,
                   std::optional<std::int64_t> transaction_values, PostgresPosition& at) {
  const OutboxRows rows(result.begin(), result.end());
  auto count = static_cast<std::size_t>(std::ranges::count_if(rows, &OutboxRow::is_within));
  Changes changes;
  changes.more = count < rows.size() || static_cast<std::int64_t>(rows.size()) >= max_rows;
  if (count > 0 && changes.more && transaction_values) {
    const auto first = static_cast<std::size_t>(
        std::ranges::find(rows, rows[count - 1].txid, &OutboxRow::txid) - rows.begin());
    if (is_large(transaction, rows, first, *transaction_values)) {
      if (first == 0) {
        const PostgresLargeTransaction large{rows[0].txid, rows[0].id - 1};
        changes.large = large.to_large_transaction();
        changes.rows = 1;
        changes.oldest_age = oldest_age(rows, count);
        at.last_txid = large.txid;
        at.last_id = kBehindEveryRow;
        return changes;
      }
      count = first;
    }
  }
  if (count == 0) return changes;
  changes.rows = static_cast<std::int64_t>(count);
  changes.captured = by_capture(rows, count);
  changes.unknown_captures = unknown_captures(transaction, rows, count);
  changes.oldest_age = oldest_age(rows, count);
  at.last_txid = rows[count - 1].txid;
  at.last_id = rows[count - 1].id;
  return changes;
}

}  // namespace

PostgresSeen see(PostgresTransaction& transaction, const PostgresPipeline& pipeline) {
  const bool tells_wal = transaction.session().tells_wal();
  const std::string statement = fill_placeholders(
      postgres_sql("take_snapshot"),
      {{"schema", transaction.session().schema()},
       {"wal", tells_wal ? "pg_current_wal_insert_lsn()" : "null"},
       {"is_flushed", tells_wal ? "pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()" : "false"}});
  const pqxx::row row =
      transaction.run_first(Doing("taking a snapshot"), statement, std::to_string(pipeline.id()))[0];
  PostgresSeen seen{row[0].c_str(), std::nullopt, row[2].as<bool>(), std::nullopt};
  if (!row[1].is_null()) seen.wal = row[1].c_str();
  if (!row[3].is_null()) seen.epoch = row[3].as<std::int64_t>();
  return seen;
}

Changes read_outbox(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                    const std::string& snapshot, const Position& from, const ChunkLimits& limits) {
  PostgresPosition at = PostgresPosition::from(from);
  if (at.cur.empty()) {
    at.cur = snapshot;
    at.last_txid = 0;
    at.last_id = 0;
  }
  const PostgresSnapshot prev(at.prev);
  const PostgresSnapshot cur(at.cur);
  const bool begun = at.last_txid >= prev.xmax();
  const std::string first_txid = std::to_string(begun ? at.last_txid : prev.xmax());
  const std::int64_t before_first_id = begun ? at.last_id : 0;

  const std::string& schema = transaction.session().schema();
  const std::string late = late_parts(schema, at, prev.finished_in(cur));
  const std::string statement = reading_statement(schema, late);
  const Doing doing("reading the outbox");
  const auto read = [&](const auto& run) {
    return run(doing, statement, limits.values, limits.values, pipeline.captures, first_txid, before_first_id,
               std::to_string(cur.xmax()), at.cur);
  };
  // With late transactions the statement differs each time: not worth preparing.
  const pqxx::result rows = late.empty()
                                ? read([&](const auto&... p) { return transaction.run_filled(p...); })
                                : read([&](const auto&... p) { return transaction.run_once(p...); });
  Changes changes = changes_of(transaction, rows, limits.values, limits.transaction_values, at);
  changes.next = changes.more ? at.to_position() : PostgresPosition{at.cur, "", 0, 0}.to_position();
  return changes;
}

TransactionPart read_transaction(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                                 const PostgresLargeTransaction& large, std::int64_t max_rows,
                                 std::int64_t max_values) {
  const std::string& schema = transaction.session().schema();
  const std::string statement = reading_statement(schema, late_part(schema, large.txid, large.after));
  // A batch of no transaction but this one.
  const std::string none = "0";
  PostgresPosition at;
  TransactionPart part;
  const pqxx::result rows =
      transaction.run_once(Doing("reading a large transaction"), statement, max_rows, max_values,
                           pipeline.captures, none, std::int64_t{0}, none, "1:1:");
  part.changes = changes_of(transaction, rows, max_rows, std::nullopt, at);
  part.last_id = at.last_id;
  return part;
}

}  // namespace lockstep
