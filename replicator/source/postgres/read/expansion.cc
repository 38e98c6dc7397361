#include "replicator/source/postgres/read/expansion.h"

#include <chrono>
#include <utility>

#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/read/jobs.h"

namespace lockstep {

PostgresExpansion::~PostgresExpansion() {
  if (!documents_.valid()) return;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
  }
  // A statement may begin just after a cancellation, so once is not enough.
  while (documents_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const std::lock_guard lock(mutex_);
    if (session_) session_->cancel();
  }
}

std::optional<std::int64_t> PostgresExpansion::advance(const PostgresIndex& index, JobId job) {
  if (documents_.valid()) {
    if (documents_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
    const std::int64_t documents = documents_.get();
    if (job_ == job) return documents;
  }
  job_ = job;
  documents_ = std::async(std::launch::async, [this, index, job] { return expand(index, job); });
  return std::nullopt;
}

std::int64_t PostgresExpansion::expand(const PostgresIndex& index, JobId job) {
  if (!session_) {
    auto session = std::make_unique<PostgresSession>(source_, purpose_);
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
  }
  return reading_view(index, [&]() -> std::int64_t {
    PostgresTransaction transaction(*session_, "finding the documents of a large change of " + index.alias,
                                    Isolation::kRepeatableRead);
    {
      const std::lock_guard lock(mutex_);
      if (is_cancelled_) return 0;
    }
    const std::int64_t documents = PostgresJobs(transaction, 0).expand(index, job);
    transaction.commit();
    return documents;
  });
}

}  // namespace lockstep
