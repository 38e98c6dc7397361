// A step of the making of Lockstep's own tables: one file of migrations/, compiled in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/embedded_file.h"
#include "replicator/error.h"

namespace lockstep {

struct Migration {
  int number = 0;
  std::string_view name;  ///< file name without ".sql", e.g. "0001_schema"
  std::string_view sql;   ///< `{schema}` is replaced by source.schema
  std::string checksum;
  /// The number of migrations that a program must know at least to serve a schema with this one; none: this
  /// one, too.
  std::optional<int> oldest_program = {};
};

/// The migrations in `files`, in order. Throws std::logic_error unless they are numbered 1, 2, 3, … .
std::vector<Migration> read_migrations(std::span<const EmbeddedFile> files);

/// Throws Error unless `number`, which a row of Lockstep's table of migrations has, is the next one behind
/// `applied`, that of the row in front of it or 0.
void require_next_migration(std::int64_t applied, std::int64_t number);

/// A schema has migration `number`, but this Lockstep knows only `known`.
OtherVersion newer_schema(const std::string& schema_name, std::int64_t number, std::size_t known);
/// A schema lacks migrations that this Lockstep knows.
OtherVersion older_schema(const std::string& schema_name);
/// Another text of this migration was applied, by Lockstep `applied_by`.
UsageError altered_migration(const Migration& migration, const std::string& applied_by);

}  // namespace lockstep
