// A text file compiled into the program (cmake/EmbedFiles.cmake), so that the installed program is one file,
// without a folder of SQL next to it.
#pragma once

#include <map>
#include <span>
#include <string_view>

namespace lockstep {

struct EmbeddedFile {
  std::string_view name;  ///< file name without its folder, e.g. "0001_schema.sql"
  std::string_view content;
};

/// Statements by name.
using Statements = std::map<std::string_view, std::string_view>;

/// The statements of files, each of which begins behind a line `-- name: NAME` and ends at the next (the form
/// of yesql). Throws std::logic_error if two have one name.
Statements statements_of(std::span<const EmbeddedFile> files);

/// The text of a statement. Throws std::logic_error if there is none of this name.
std::string_view statement_named(const Statements& statements, std::string_view name);

/// migrations/postgresql/*.sql in ascending order of their numbers.
std::span<const EmbeddedFile> postgresql_migrations();

/// migrations/sqlite/*.sql likewise.
std::span<const EmbeddedFile> sqlite_migrations();

}  // namespace lockstep
