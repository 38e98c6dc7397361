#include "replicator/source/sqlite/session/connection.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "replicator/error.h"
#include "replicator/source/sqlite/session/exact_value.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/template.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

// Of other processes that hold the lock for less than a millisecond. SQLite's own waits grow to 100 ms, and
// so long a wait starves next to a busy writer.
constexpr std::chrono::microseconds kLookAgain{500};

// Long enough to be woken with a fresh share of the processor, so that we do not lose it while we hold the
// lock.
constexpr std::chrono::microseconds kWatchAgain{50};

// Times of files are not finer, on any file system of a disk.
constexpr std::chrono::milliseconds kTick{50};

static_assert(static_cast<int>(SqliteEncoding::kUtf8) == SQLITE_UTF8 &&
              static_cast<int>(SqliteEncoding::kUtf16LittleEndian) == SQLITE_UTF16LE &&
              static_cast<int>(SqliteEncoding::kUtf16BigEndian) == SQLITE_UTF16BE);

// A commit of ours makes nothing durable while it holds the application's lock: sync() does so afterwards.
// The application's checkpoints are its own; without the setting our commits would do them.
constexpr const char* kSettings =
    "pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma foreign_keys = off; "
    "pragma mmap_size = 0";

std::string required_prefix(const std::string& schema) {
  const bool is_name = !schema.empty() && schema.front() >= 'a' && schema.front() <= 'z' &&
                       std::all_of(schema.begin(), schema.end(), [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                       });
  if (is_name && !schema.starts_with("sqlite_")) return schema;
  throw UsageError("source.schema: \"" + schema +
                   "\" cannot begin the names of tables in SQLite; write small letters, digits and _, such "
                   "as \"lockstep\"");
}

// Syncs a file or folder that SQLite does not have open. A missing one needs no sync. It does not wait for
// the other end of a pipe in its place.
void sync_path(const std::filesystem::path& path, int flags) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
  if (descriptor < 0 && errno == ENOENT) return;
  const bool is_synced = descriptor >= 0 && fsync(descriptor) == 0;
  const int fault = errno;
  if (descriptor >= 0) close(descriptor);
  if (is_synced) return;
  throw Error(
      {"making " + path.string() + " durable", std::strerror(fault), "", Retry::kLater, Server::kSource});
}

// One that SQLite has open; null if it has none of this kind.
sqlite3_file* open_file(sqlite3* database, int which) {
  sqlite3_file* opened = nullptr;
  const int code = sqlite3_file_control(database, "main", which, &opened);
  if (code != SQLITE_OK) throw sqlite_error("looking at the open files", nullptr, code);
  return opened == nullptr || opened->pMethods == nullptr ? nullptr : opened;
}

void sync_open(sqlite3_file* file) {
  if (file == nullptr) return;
  const int code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
  if (code != SQLITE_OK) throw sqlite_error("making commits durable", nullptr, code);
}

}  // namespace

SqliteConnection::SqliteConnection(const SourceConfig& source)
    : schema_(required_prefix(source.schema)), file_(source.database) {
  constexpr const char* kOpening = "opening the source";
  const int code =
      sqlite3_open_v2(file_.path().c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    const SqliteError error = sqlite_error(kOpening, handle_, code);
    sqlite3_close(handle_);
    throw error;
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_handler(handle_, &SqliteConnection::wait_for_lock, this);
  try {
    execute(kOpening, kSettings);
    add_exact_value_function(handle_);
    require_same_file();
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

SqliteConnection::~SqliteConnection() {
  for (const auto& [text, statement] : prepared_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

int SqliteConnection::wait_for_lock(void* connection, int attempt) {
  auto& self = *static_cast<SqliteConnection*>(connection);
  const auto now = std::chrono::steady_clock::now();
  if (attempt == 0) self.waits_since_ = now;
  if (now - self.waits_since_ >= self.patience_) return 0;
  std::this_thread::sleep_for(kLookAgain);
  return 1;
}

std::string SqliteConnection::sql(std::string_view statement) const {
  return with_schema(statement, schema_);
}

void SqliteConnection::execute(std::string_view doing, std::string_view statements) {
  const int code = sqlite3_exec(handle_, sql(statements).c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw sqlite_error(doing, handle_, code);
}

std::int64_t SqliteConnection::changes() const {
  return sqlite3_changes64(handle_);
}

// A file keeps the encoding that it was made with.
SqliteEncoding SqliteConnection::encoding() {
  if (encoding_) return *encoding_;
  SqliteStatement row(*this, "asking for the encoding of the file", "pragma encoding");
  row.step();
  const std::string_view name = row[0].text();
  if (name == "UTF-8") encoding_ = SqliteEncoding::kUtf8;
  if (name == "UTF-16le") encoding_ = SqliteEncoding::kUtf16LittleEndian;
  if (name == "UTF-16be") encoding_ = SqliteEncoding::kUtf16BigEndian;
  if (!encoding_) throw unknown_value("the source", "encoding", name);
  return *encoding_;
}

std::int64_t SqliteConnection::data_version() {
  SqliteStatement row(*this, "asking for the version of the file", "pragma data_version");
  row.step();
  return row[0].integer();
}

std::int64_t SqliteConnection::schema_version() {
  SqliteStatement row(*this, "asking for the version of the schema", "pragma schema_version");
  row.step();
  return row[0].integer();
}

void SqliteConnection::sync() {
  const std::int64_t version = data_version();
  if (synced_version_ == version && !has_written_) return;
  sync_files();
  synced_version_ = version;
  has_written_ = false;
}

// The -wal first: pages that a checkpoint takes from there meanwhile are in the file when that is synced.
// With a rollback journal its disappearance is the commit, so the folder is synced too.
void SqliteConnection::sync_files() {
  sqlite3_file* const write_ahead_log = wal();
  if (write_ahead_log != nullptr) sync_open(write_ahead_log);
  sync_open(open_file(handle_, SQLITE_FCNTL_FILE_POINTER));
  if (write_ahead_log != nullptr) return;
  sync_path(file_.journal(), O_NOFOLLOW);
  sync_path(file_.path().parent_path(), O_DIRECTORY);
}

// The caller may have been running for long: it sleeps once in any case. With a rollback journal every look
// locks the file, and would be in the way itself.
void SqliteConnection::await_moment_to_write() {
  const std::int64_t version = data_version();
  if (wal() == nullptr) return;
  const auto end = std::chrono::steady_clock::now() + kLongestWatch;
  do {
    std::this_thread::sleep_for(kWatchAgain);
    if (data_version() != version) return;
  } while (quiet_version_ != version && std::chrono::steady_clock::now() < end);
  quiet_version_ = version;
}

sqlite3_file* SqliteConnection::wal() {
  return open_file(handle_, SQLITE_FCNTL_JOURNAL_POINTER);
}

void SqliteConnection::interrupt() {
  sqlite3_interrupt(handle_);
}

// SQLite keeps pages until a commit through SQLite: a copy over the file is not seen, and a commit of ours
// would put pages of the old file into it.
void SqliteConnection::require_same_file() {
  if (const std::optional<std::int64_t> written_at = file_.look()) {
    if (written_at_ != *written_at) sqlite3_db_release_memory(handle_);
    written_at_ = *written_at;
    // Another write may come in the same tick.
    if (std::chrono::system_clock::now().time_since_epoch() - kTick < std::chrono::nanoseconds(*written_at))
      written_at_ = 0;
    return;
  }
  throw Error({"reading the source", "another file is at " + file_.path().string() + " now, or none",
               "if a backup was restored, there is nothing to do", Retry::kLater, Server::kSource});
}

sqlite3_stmt* SqliteConnection::take(std::string_view doing, const std::string& text) {
  const auto known = prepared_.find(text);
  if (known != prepared_.end()) {
    sqlite3_stmt* const statement = known->second;
    prepared_.erase(known);
    return statement;
  }
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, &rest);
  if (code != SQLITE_OK) throw sqlite_error(doing, handle_, code);
  return statement;
}

void SqliteConnection::give_back(const std::string& text, sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  if (!prepared_.emplace(text, statement).second) sqlite3_finalize(statement);
}

std::string quote_sqlite_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace lockstep
