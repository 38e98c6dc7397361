#include "replicator/source/migration.h"

#include <charconv>
#include <stdexcept>
#include <utility>

#include "replicator/source/checksum.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

// In the first line of a migration, with a number.
constexpr std::string_view kOldestProgram = "-- oldest program: ";

std::optional<int> oldest_program_of(std::string_view sql) {
  if (!sql.starts_with(kOldestProgram)) return std::nullopt;
  sql.remove_prefix(kOldestProgram.size());
  int number = 0;
  const auto [end, error] = std::from_chars(sql.data(), sql.data() + sql.size(), number);
  if (error != std::errc{} || *end != '\n')
    throw std::logic_error("a migration's oldest program is no number");
  return number;
}

}  // namespace

std::vector<Migration> read_migrations(std::span<const EmbeddedFile> files) {
  std::vector<Migration> migrations;
  for (const EmbeddedFile& file : files) {
    Migration migration;
    std::from_chars(file.name.data(), file.name.data() + file.name.size(), migration.number);
    if (migration.number != static_cast<int>(migrations.size()) + 1 || !file.name.ends_with(".sql")) {
      throw std::logic_error("migration " + std::string(file.name) + " is out of order");
    }
    migration.name = file.name.substr(0, file.name.size() - 4);
    migration.sql = file.content;
    migration.checksum = checksum(file.content);
    migration.oldest_program = oldest_program_of(file.content);
    migrations.push_back(std::move(migration));
  }
  return migrations;
}

void require_next_migration(std::int64_t applied, std::int64_t number) {
  if (number == applied + 1) return;
  throw unfit_value("lockstep's table of migrations", "number", std::to_string(number),
                    std::to_string(applied + 1) + ", the next one");
}

OtherVersion newer_schema(const std::string& schema_name, std::int64_t number, std::size_t known) {
  return OtherVersion("schema \"" + schema_name + "\" was migrated by a newer lockstep: it has migration " +
                      std::to_string(number) + ", this is lockstep " LOCKSTEP_VERSION ", which knows " +
                      std::to_string(known) + "; install that version of lockstep or a newer one");
}

OtherVersion older_schema(const std::string& schema_name) {
  return OtherVersion("schema \"" + schema_name +
                      "\" was made by an older lockstep than this one (" LOCKSTEP_VERSION
                      "); run `lockstep apply`");
}

UsageError altered_migration(const Migration& migration, const std::string& applied_by) {
  return UsageError("migration " + std::string(migration.name) +
                    " of this lockstep (" LOCKSTEP_VERSION ") is not the one that lockstep " + applied_by +
                    " has applied: released migrations must not be changed; install an official build");
}

}  // namespace lockstep
