#include "replicator/source/sqlite/session/sqlite_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

// The number of the file and when it was made: numbers are given again, and those of devices change. Empty
// when there is no file.
std::string place_of(const std::filesystem::path& path) {
  struct statx found {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    throw Error({"looking at " + path.string(), std::strerror(errno), "", Retry::kLater, Server::kSource});
  }
  std::string place = std::to_string(found.stx_ino);
  if ((found.stx_mask & STATX_BTIME) == 0) return place;
  return place + " of " + std::to_string(found.stx_btime.tv_sec) + "." +
         std::to_string(found.stx_btime.tv_nsec);
}

}  // namespace

SqliteFile::SqliteFile(std::filesystem::path path) : path_(std::move(path)), place_(place_of(path_)) {
  if (place_.empty()) {
    throw UsageError("source.url: there is no file " + path_.string() +
                     "; lockstep creates no database: name the application's own");
  }
}

bool SqliteFile::is_there() const {
  return place_of(path_) == place_;
}

std::filesystem::path SqliteFile::beside(const std::string& suffix) const {
  return path_.string() + suffix;
}

}  // namespace lockstep
