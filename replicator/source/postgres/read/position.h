// Which transactions a snapshot of PostgreSQL sees, and the tail's position between two snapshots.
// docs/concepts.md explains why sequence numbers or transaction ids alone will not do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/outbox/change.h"

namespace lockstep {

/// A pg_snapshot. It sees every transaction below xmin, none from xmax on, and those in between that are not
/// in `running`.
class PostgresSnapshot {
 public:
  /// Reads "xmin:xmax:x1,x2,…". Throws Error, naming the text, if it has another form.
  explicit PostgresSnapshot(std::string_view text);

  bool sees(std::uint64_t txid) const;

  std::uint64_t xmax() const { return xmax_; }
  const std::string& text() const { return text_; }

  /// The transactions that were running in this snapshot and that `later` sees, ascending.
  std::vector<std::uint64_t> finished_in(const PostgresSnapshot& later) const;

 private:
  std::string text_;
  std::uint64_t xmin_ = 0;
  std::uint64_t xmax_ = 0;
  std::vector<std::uint64_t> running_;  // ascending
};

/// A Position on PostgreSQL: everything that `prev` sees is read. While a batch is open (`cur` is not empty),
/// so are, of the rows that `cur` sees beyond that, those up to (last_txid, last_id).
struct PostgresPosition {
  std::string prev;
  std::string cur;  ///< empty: no batch is open
  std::uint64_t last_txid = 0;
  std::int64_t last_id = 0;

  Position to_position() const;
  /// Throws Error, naming the text, if it is no position.
  static PostgresPosition from(const Position& position);
};

/// A LargeTransaction on PostgreSQL: the rows of `txid` behind `after`.
struct PostgresLargeTransaction {
  std::uint64_t txid = 0;
  std::int64_t after = 0;  ///< id of a row of the outbox

  LargeTransaction to_large_transaction() const;
  /// Throws Error, naming the text, if it is none.
  static PostgresLargeTransaction from(const LargeTransaction& transaction);
};

}  // namespace lockstep
