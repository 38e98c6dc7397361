#include "tests/support/sync_recorder.h"

#include <sqlite3.h>

#include <mutex>
#include <new>
#include <set>

namespace lockstep::support {
namespace {

std::mutex mutex;
std::set<std::string> unsynced;  // guarded by mutex
sqlite3_vfs* real_vfs = nullptr;

/// In the memory that SQLite gives for a file; the real one follows it there.
struct RecordedFile {
  sqlite3_file base;
  const char* path;  // lives as long as the file is open

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

RecordedFile* recorded(sqlite3_file* file) {
  return reinterpret_cast<RecordedFile*>(file);
}

sqlite3_file* real(sqlite3_file* file) {
  return recorded(file)->real();
}

void note(sqlite3_file* file, bool is_synced) {
  const char* const path = recorded(file)->path;
  if (path == nullptr) return;  // a temporary file
  const std::lock_guard lock(mutex);
  if (is_synced) {
    unsynced.erase(path);
  } else {
    unsynced.insert(path);
  }
}

const sqlite3_io_methods kMethods = {
    3,
    [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); },
    [](sqlite3_file* f, void* to, int bytes, sqlite3_int64 at) {
      return real(f)->pMethods->xRead(real(f), to, bytes, at);
    },
    [](sqlite3_file* f, const void* from, int bytes, sqlite3_int64 at) {
      note(f, false);
      return real(f)->pMethods->xWrite(real(f), from, bytes, at);
    },
    [](sqlite3_file* f, sqlite3_int64 size) {
      note(f, false);
      return real(f)->pMethods->xTruncate(real(f), size);
    },
    [](sqlite3_file* f, int how) {
      const int code = real(f)->pMethods->xSync(real(f), how);
      if (code == SQLITE_OK) note(f, true);
      return code;
    },
    [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); },
    [](sqlite3_file* f, int lock) { return real(f)->pMethods->xLock(real(f), lock); },
    [](sqlite3_file* f, int lock) { return real(f)->pMethods->xUnlock(real(f), lock); },
    [](sqlite3_file* f, int* is_reserved) {
      return real(f)->pMethods->xCheckReservedLock(real(f), is_reserved);
    },
    [](sqlite3_file* f, int what, void* argument) {
      return real(f)->pMethods->xFileControl(real(f), what, argument);
    },
    [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); },
    [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); },
    [](sqlite3_file* f, int page, int bytes, int extend, void volatile** memory) {
      return real(f)->pMethods->xShmMap(real(f), page, bytes, extend, memory);
    },
    [](sqlite3_file* f, int offset, int count, int flags) {
      return real(f)->pMethods->xShmLock(real(f), offset, count, flags);
    },
    [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); },
    [](sqlite3_file* f, int is_deleted) { return real(f)->pMethods->xShmUnmap(real(f), is_deleted); },
    [](sqlite3_file* f, sqlite3_int64 at, int bytes, void** memory) {
      return real(f)->pMethods->xFetch(real(f), at, bytes, memory);
    },
    [](sqlite3_file* f, sqlite3_int64 at, void* memory) {
      return real(f)->pMethods->xUnfetch(real(f), at, memory);
    },
};

int open_recorded(sqlite3_vfs* /*vfs*/, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  new (file) RecordedFile{{nullptr}, path};
  const int code = real_vfs->xOpen(real_vfs, path, real(file), flags, out_flags);
  if (real(file)->pMethods != nullptr) file->pMethods = &kMethods;
  return code;
}

}  // namespace

void record_syncs() {
  static sqlite3_vfs recorder = [] {
    real_vfs = sqlite3_vfs_find(nullptr);
    sqlite3_vfs vfs = *real_vfs;  // its other functions take the real one's data
    vfs.zName = "sync_recorder";
    vfs.szOsFile = static_cast<int>(sizeof(RecordedFile)) + real_vfs->szOsFile;
    vfs.xOpen = open_recorded;
    vfs.pNext = nullptr;
    return vfs;
  }();
  static const int registered = sqlite3_vfs_register(&recorder, 1);
  if (registered != SQLITE_OK) throw std::bad_alloc();
}

bool is_unsynced(const std::string& path) {
  const std::lock_guard lock(mutex);
  return unsynced.contains(path);
}

}  // namespace lockstep::support
