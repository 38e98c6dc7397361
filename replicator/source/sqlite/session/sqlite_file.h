// The application's file among the files of this machine: its identity among files of the same path, and the
// files next to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

class SqliteFile {
 public:
  /// Looks at the file now. Throws SourceAbsent if there is none, and if it belongs to another user: the
  /// first to open it owns its -wal and -shm, and may shut the application out. Throws Error if it cannot be
  /// looked at.
  explicit SqliteFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  /// Names this very file by its number and the time of its making: a number is given again. (Not
  /// distinguished: a file that takes the number of one that was deleted in the same few milliseconds in
  /// which it was made.)
  const std::string& place() const { return place_; }

  /// Whether the path still leads to this file.
  bool is_there() const { return look().has_value(); }

  /// When the file was last written, in nanoseconds since 1970. None: the path no longer leads to it.
  std::optional<std::int64_t> look() const;

  std::filesystem::path wal() const { return beside("-wal"); }
  std::filesystem::path journal() const { return beside("-journal"); }
  /// The file of a leader's report.
  std::filesystem::path status(const std::string& pipeline) const { return beside("-lockstep-" + pipeline); }

 private:
  std::filesystem::path beside(const std::string& suffix) const;

  std::filesystem::path path_;
  std::string place_;
};

}  // namespace lockstep
