#include "replicator/source/sqlite/session/byte_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "replicator/error.h"
#include "replicator/mutex.h"

namespace lockstep {
namespace {

// SQLite's last byte is at 2^30 + 511, or in the file, which is smaller than 2^48.
constexpr std::int64_t kFirstByte = std::int64_t{1} << 56;
constexpr std::int64_t kBytesOfAPurpose = std::int64_t{1} << 40;

Error failed(const char* doing, int fault) {
  return Error({doing, std::strerror(fault), "", Retry::kLater, Server::kSource});
}

using FileNumber = std::pair<dev_t, ino_t>;

/// Descriptors that no lock uses.
struct Spare {
  Mutex mutex;
  std::map<FileNumber, std::vector<int>> descriptors LOCKSTEP_GUARDED_BY(mutex);
};

Spare& spare() {
  static auto* const instance = new Spare;  // NOLINT: locks may outlive static objects
  return *instance;
}

int open_descriptor(const SqliteFile& file) {
  constexpr const char* kDoing = "opening the database to lock it";
  struct stat found {};
  if (stat(file.path().c_str(), &found) != 0) throw failed(kDoing, errno);
  {
    Spare& kept = spare();
    const MutexLock lock(kept.mutex);
    std::vector<int>& descriptors = kept.descriptors[{found.st_dev, found.st_ino}];
    if (!descriptors.empty()) {
      const int descriptor = descriptors.back();
      descriptors.pop_back();
      return descriptor;
    }
  }
  const int descriptor = open(file.path().c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw failed(kDoing, errno);
  return descriptor;
}

void keep_descriptor(int descriptor) {
  struct stat found {};
  if (fstat(descriptor, &found) != 0) return;
  if (found.st_nlink == 0) {
    close(descriptor);  // no process can meet a lock of this file any more
    return;
  }
  Spare& kept = spare();
  const MutexLock lock(kept.mutex);
  kept.descriptors[{found.st_dev, found.st_ino}].push_back(descriptor);
}

struct flock one_byte(short type, std::int64_t byte) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

ByteLock::ByteLock(const SqliteFile& file, LockPurpose purpose, int pipeline)
    : byte_(kFirstByte + kBytesOfAPurpose * static_cast<std::int64_t>(purpose) + pipeline),
      descriptor_(open_descriptor(file)) {}

ByteLock::~ByteLock() {
  struct flock lock = one_byte(F_UNLCK, byte_);
  fcntl(descriptor_, F_OFD_SETLK, &lock);
  keep_descriptor(descriptor_);
}

bool ByteLock::set(short type) {
  struct flock lock = one_byte(type, byte_);
  if (fcntl(descriptor_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw failed("locking a byte of the database", errno);
}

bool ByteLock::try_exclusive() {
  return set(F_WRLCK);
}

void ByteLock::share() {
  if (!set(F_RDLCK)) throw failed("locking a byte of the database", EAGAIN);
}

void ByteLock::let_go() {
  set(F_UNLCK);
}

bool ByteLock::is_held_elsewhere() {
  struct flock lock = one_byte(F_WRLCK, byte_);
  if (fcntl(descriptor_, F_OFD_GETLK, &lock) != 0) throw failed("looking at a lock of the database", errno);
  return lock.l_type != F_UNLCK;
}

}  // namespace lockstep
