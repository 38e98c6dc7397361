#include "replicator/source/sqlite/read/history.h"

#include <sqlite3.h>

#include "replicator/error.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"

namespace lockstep {

std::int64_t SqliteHistory::next() {
  std::int64_t number = 0;
  sqlite3_randomness(sizeof number, &number);
  return number;
}

bool SqliteHistory::goes_on(SqliteConnection& connection, int pipeline) const {
  if (!last_) return true;
  SqliteStatement row(connection, "looking whether the source went back",
                      "select epoch, saved from {schema}_checkpoint where pipeline = ?1", pipeline);
  if (!row.step()) return true;  // the pipeline was removed, as its next loading reports
  const Epoch epoch{stored_integer(row[0], "checkpoint")};
  return epoch > last_->epoch ||
         (epoch == last_->epoch && stored_integer(row[1], "checkpoint") == last_->number);
}

Error note_gone_back(SqliteConnection& connection) {
  constexpr const char* kDoing = "noting that the source went back";
  SqliteWrite write(connection, kDoing);
  connection.execute(kDoing, "update {schema}_file set mark = lower(hex(randomblob(16)))");
  write.commit(kDoing);
  connection.sync();
  return Error({"following changes", "the source was restored from an older state",
                "there is nothing to do: every index is compared with its view", Retry::kLater,
                Server::kSource});
}

}  // namespace lockstep
