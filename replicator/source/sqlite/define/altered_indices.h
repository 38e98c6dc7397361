// Indices whose view, or a table or view below it, differs from the one that `apply` found, or did for a
// while. SQLite keeps no trace of a view that was dropped, made otherwise, and made again. So the leader
// notes it with the definition before it renders anything from another one: the note lasts until a comparison
// is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replicator/source/sqlite/define/applied.h"
#include "replicator/source/sqlite/session/connection.h"

namespace lockstep {

struct SqliteAlteredIndex {
  std::string alias;
  int id = 0;
  bool is_followed = true;
  bool is_searched = true;            ///< it is not next to another one
  std::string stored;                 ///< its definition
  std::string now;                    ///< the same as it would be stored now
  std::vector<std::string> changed;   ///< parts that are others
  std::vector<std::string> replaced;  ///< parts that were others, by the note

  /// One sentence, with the remedy.
  std::string text() const;
};

/// Those whose view is there. REQUIRES: a transaction is open.
std::vector<SqliteAlteredIndex> altered_indices(SqliteConnection& connection, const SqliteApplied& applied);

/// Notes which definitions are others now. Returns the version of the schema for which that is done.
/// REQUIRES: leading, no transaction is open. Throws Error.
std::int64_t note_altered_indices(SqliteConnection& connection, const std::string& pipeline);

/// Has the indices compared whose definitions are restored. Returns its work, in sentences.
/// REQUIRES: leading, no transaction is open. Throws Error.
std::vector<std::string> compare_put_back(SqliteConnection& connection, const std::string& pipeline);

}  // namespace lockstep
