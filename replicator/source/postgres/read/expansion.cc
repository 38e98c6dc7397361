#include "replicator/source/postgres/read/expansion.h"

#include <chrono>
#include <utility>
#include <vector>

#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/read/jobs.h"
#include "replicator/source/postgres/session/array.h"

namespace lockstep {

PostgresExpansion::~PostgresExpansion() {
  if (!documents_.valid()) return;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
  }
  // A statement may begin just behind a cancellation, so once is not enough.
  while (documents_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const std::lock_guard lock(mutex_);
    try {
      if (session_) session_->connection().cancel_query();
    } catch (const pqxx::failure&) {
      // The connection is gone, and the statement with it.
    }
  }
}

std::optional<std::int64_t> PostgresExpansion::advance(const AppliedIndex& index, std::int64_t job) {
  if (documents_.valid()) {
    if (documents_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
    const std::int64_t documents = documents_.get();
    if (job_ == job) return documents;
  }
  job_ = job;
  documents_ = std::async(std::launch::async, [this, index, job] { return expand(index, job); });
  return std::nullopt;
}

std::int64_t PostgresExpansion::expand(const AppliedIndex& index, std::int64_t job) {
  if (!session_) {
    auto session = std::make_unique<PostgresSession>(source_, purpose_);
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
  }
  std::int64_t documents = 0;
  reading_view(index, "finding the documents of a large change", [&] {
    pqxx::transaction<pqxx::repeatable_read> transaction(session_->connection());
    {
      const std::lock_guard lock(mutex_);
      if (is_cancelled_) return;
    }
    documents = PostgresJobs(transaction, *session_, 0).expand(index, job);
    transaction.commit();
  });
  return documents;
}

}  // namespace lockstep
