#include "replicator/source/sqlite/session/sqlite_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "replicator/error.h"
#include "replicator/source/source_absent.h"

namespace lockstep {
namespace {

struct Found {
  /// The number of the file and when it was made: numbers are given again, and those of devices change.
  std::string place;
  std::int64_t written_at = 0;  // nanoseconds
  uid_t owner = 0;
};

std::string place_of(const struct statx& found) {
  std::string place = std::to_string(found.stx_ino);
  if ((found.stx_mask & STATX_BTIME) == 0) return place;
  return place + " of " + std::to_string(found.stx_btime.tv_sec) + "." +
         std::to_string(found.stx_btime.tv_nsec);
}

// None if there is no file.
std::optional<Found> find(const std::filesystem::path& path) {
  struct statx found {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME | STATX_MTIME | STATX_UID, &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw Error({"looking at " + path.string(), std::strerror(errno), "", Retry::kLater, Server::kSource});
  }
  return Found{place_of(found), found.stx_mtime.tv_sec * 1'000'000'000 + found.stx_mtime.tv_nsec,
               found.stx_uid};
}

}  // namespace

SqliteFile::SqliteFile(std::filesystem::path path) : path_(std::move(path)) {
  const std::optional<Found> found = find(path_);
  if (!found) {
    throw SourceAbsent("source.url: there is no file " + path_.string() +
                       "; lockstep creates no database: name the application's own");
  }
  // SQLite gives files that root makes to the file's owner.
  if (geteuid() != 0 && geteuid() != found->owner) {
    throw SourceAbsent(
        "source.url: " + path_.string() + " belongs to user " + std::to_string(found->owner) +
        ", and lockstep runs as user " + std::to_string(geteuid()) +
        ": the files next to it would keep the application out; run lockstep as the application's "
        "user");
  }
  place_ = found->place;
}

std::optional<std::int64_t> SqliteFile::look() const {
  const std::optional<Found> found = find(path_);
  return found && found->place == place_ ? std::optional(found->written_at) : std::nullopt;
}

std::filesystem::path SqliteFile::beside(const std::string& suffix) const {
  return path_.string() + suffix;
}

}  // namespace lockstep
