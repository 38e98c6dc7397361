#include "replicator/source/sqlite/session/time_limit.h"

#include <sqlite3.h>

namespace lockstep {
namespace {

constexpr int kStepsBetweenLooks = 1'000;

}  // namespace

SqliteTimeLimit::SqliteTimeLimit(SqliteConnection& connection, std::chrono::milliseconds limit)
    : connection_(connection), end_(std::chrono::steady_clock::now() + limit) {
  sqlite3_progress_handler(connection_.handle(), kStepsBetweenLooks, &SqliteTimeLimit::is_over, this);
}

SqliteTimeLimit::~SqliteTimeLimit() {
  sqlite3_progress_handler(connection_.handle(), 0, nullptr, nullptr);
}

int SqliteTimeLimit::is_over(void* limit) {
  return std::chrono::steady_clock::now() >= static_cast<SqliteTimeLimit*>(limit)->end_ ? 1 : 0;
}

bool is_interrupted(const SqliteError& error) {
  return error.primary_code() == SQLITE_INTERRUPT;
}

}  // namespace lockstep
