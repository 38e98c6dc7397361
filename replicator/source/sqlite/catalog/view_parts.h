// Parts of a view's documents besides rows: the text of the view and of those below it, and the declarations
// of the columns that they read. No trigger fires when these change, so `apply` keeps checksums of them, and
// the leader and the next `apply` compare.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/sqlite/catalog/view_reads.h"

namespace lockstep {

/// Checksums by "view v" and "table t".
using SqliteViewParts = std::map<std::string, std::string>;

SqliteViewParts read_view_parts(SqliteConnection& connection, const SqliteViewReads& reads);

/// As Lockstep's table of indices keeps them: JSON.
std::string to_text(const SqliteViewParts& parts);

/// The names of the parts that are others in `stored`, a to_text(), in order; empty: none. Throws Error for
/// any other text.
std::vector<std::string> changed_parts(const SqliteViewParts& parts, std::string_view stored);

/// `stored` with a note that these parts were found to be others. It is none of the parts.
std::string with_note(std::string_view stored, const std::vector<std::string>& changed);

/// The names in that note; empty: there is none. Throws as changed_parts() does.
std::vector<std::string> noted_parts(std::string_view stored);

}  // namespace lockstep
