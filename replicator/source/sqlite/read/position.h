// Positions in the outbox: the id of a row. Everything up to it has been read.
#pragma once

#include <cstdint>

#include "replicator/source/outbox/change.h"

namespace lockstep {

Position position_at(std::int64_t id);

/// Throws Error if another source has made it.
std::int64_t id_of(const Position& position);

/// Rows that became visible together, of unknown transactions: SQLite names none. They take the place of a
/// large transaction.
struct SqliteRows {
  std::int64_t behind = 0;
  std::int64_t up_to = 0;

  LargeTransaction to_transaction() const;
  /// Throws Error if another source has made it.
  static SqliteRows from(const LargeTransaction& transaction);
};

}  // namespace lockstep
