#include "replicator/source/sqlite/session/wal_care.h"

#include <sqlite3.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace lockstep {
namespace {

constexpr std::uintmax_t kLargeWal = 4 << 20;
constexpr int kManyFrames = kLargeWal / 4096;  // a page of the usual size each
constexpr std::chrono::milliseconds kLongestGap{20};
constexpr std::chrono::seconds kIdle{3};

}  // namespace

std::uintmax_t SqliteWalCare::size() const {
  std::error_code absent;
  const std::uintmax_t size = std::filesystem::file_size(connection_.file().wal(), absent);
  return absent ? 0 : size;
}

// The file does not shrink when it is written from its beginning again; SQLite reports how much of it is in
// use. The gap is as long as the last reading.
void SqliteWalCare::before_reading() {
  const SteadyTime now = clock_.now();
  is_emptied_ = false;
  written_at_ = now;
  const auto since = now - std::exchange(opened_at_, now);
  if (!copy_.due(now) || size() < kLargeWal) return;
  int frames = 0;
  int copied = 0;
  sqlite3_wal_checkpoint_v2(connection_.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);
  if (frames > kManyFrames) {
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(since, kLongestGap));
    opened_at_ = clock_.now();
  }
}

// Others also make writes that no trigger sees.
void SqliteWalCare::while_idle() {
  const SteadyTime now = clock_.now();
  const std::int64_t version = connection_.data_version();
  if (std::exchange(version_, version) != version) {
    written_at_ = now;
    is_emptied_ = false;
  }
  if (is_emptied_ || now - written_at_ < kIdle) return;
  is_emptied_ = true;
  if (size() == 0) return;
  // First without the write lock, so that little is left to do with it.
  sqlite3_wal_checkpoint_v2(connection_.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  connection_.set_patience(std::chrono::milliseconds(0));
  sqlite3_wal_checkpoint_v2(connection_.handle(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  connection_.set_patience(SqliteConnection::kPatience);
  version_ = connection_.data_version();
}

}  // namespace lockstep
