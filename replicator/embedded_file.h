// A text file compiled into the program (cmake/EmbedFiles.cmake), so that the installed program is one file,
// without a folder of SQL beside it.
#pragma once

#include <span>
#include <string_view>

namespace lockstep {

struct EmbeddedFile {
  std::string_view name;  ///< file name without its folder, e.g. "0001_schema.sql"
  std::string_view content;
};

/// The content of the file NAME.sql. Throws std::logic_error when there is none.
std::string_view sql_named(std::span<const EmbeddedFile> files, std::string_view name);

/// migrations/postgresql/*.sql in ascending order of their numbers.
std::span<const EmbeddedFile> postgresql_migrations();

/// migrations/sqlite/*.sql likewise.
std::span<const EmbeddedFile> sqlite_migrations();

}  // namespace lockstep
