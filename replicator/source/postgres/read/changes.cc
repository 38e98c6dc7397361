#include "replicator/source/postgres/read/changes.h"

#include <algorithm>
#include <limits>
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

// Moves `at` to the last row that was read.
Changes changes_of(const pqxx::result& rows, PostgresPosition& at) {
  Changes changes;
  for (const pqxx::row& row : rows) {
    if (!row[0].is_null() && row[2].is_null()) {
      changes.unknown_captures.push_back({row[0].as<int>()});
      continue;
    }
    if (!row[0].is_null()) {
      changes.captured.push_back({{row[0].as<int>()},
                                  row[1].is_null() ? Values{} : parse_array({row[1].c_str(), row[1].size()}),
                                  row[2].as<bool>()});
      continue;
    }
    changes.rows = row[3].as<std::int64_t>();
    changes.more = row[7].as<bool>();
    if (!row[8].is_null()) {
      const PostgresLargeTransaction large{row[8].as<std::uint64_t>(), row[9].as<std::int64_t>() - 1};
      changes.large = large.to_large_transaction();
      changes.rows = 1;
      at.last_txid = large.txid;
      at.last_id = kBehindEveryRow;
    } else if (changes.rows > 0) {
      at.last_txid = row[4].as<std::uint64_t>();
      at.last_id = row[5].as<std::int64_t>();
    } else {
      continue;
    }
    // Below 0 when the server's clock was put back meanwhile.
    const double age = std::max(0.0, row[6].as<double>());
    changes.oldest_age = std::chrono::microseconds(static_cast<std::int64_t>(age * 1e6));
  }
  changes.next = changes.more ? at.to_position() : PostgresPosition{at.cur, "", 0, 0}.to_position();
  return changes;
}

}  // namespace

PostgresSeen see(PostgresTransaction& transaction) {
  const pqxx::result row =
      transaction.run(Doing("taking a snapshot"),
                      transaction.session().tells_wal()
                          ? "select pg_current_snapshot()::text, pg_current_wal_insert_lsn()::text"
                          : "select pg_current_snapshot()::text, null");
  PostgresSeen seen{row[0][0].c_str(), std::nullopt};
  if (!row[0][1].is_null()) seen.wal = row[0][1].c_str();
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
  const std::string statement =
      fill_placeholders(postgres_sql("read_outbox"), {{"schema", schema}, {"late", late}});
  const Doing doing("reading the outbox");
  const auto read = [&](const auto& run) {
    return run(doing, statement, limits.values, limits.values, pipeline.captures, first_txid, before_first_id,
               std::to_string(cur.xmax()), at.cur, limits.transaction_values);
  };
  // With late transactions the statement differs each time: not worth preparing.
  const pqxx::result rows = late.empty()
                                ? read([&](const auto&... p) { return transaction.run_filled(p...); })
                                : read([&](const auto&... p) { return transaction.run_once(p...); });
  return changes_of(rows, at);
}

TransactionPart read_transaction(PostgresTransaction& transaction, const PostgresPipeline& pipeline,
                                 const PostgresLargeTransaction& large, std::int64_t max_rows,
                                 std::int64_t max_values) {
  const std::string& schema = transaction.session().schema();
  const std::string statement =
      fill_placeholders(postgres_sql("read_outbox"),
                        {{"schema", schema}, {"late", late_part(schema, large.txid, large.after)}});
  // A batch of no transaction but this one.
  const std::string none = "0";
  PostgresPosition at;
  TransactionPart part;
  part.changes = changes_of(transaction.run_once(Doing("reading a large transaction"), statement, max_rows,
                                                 max_values, pipeline.captures, none, std::int64_t{0}, none,
                                                 "1:1:", std::optional<std::int64_t>()),
                            at);
  part.last_id = at.last_id;
  return part;
}

}  // namespace lockstep
