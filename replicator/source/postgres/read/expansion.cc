#include "replicator/source/postgres/read/expansion.h"

#include <chrono>
#include <utility>

#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/read/jobs.h"

namespace lockstep {

PostgresExpansion::~PostgresExpansion() {
  if (!list_.valid()) return;
  do session_.cancel();
  while (list_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready);
}

std::optional<FanOutList> PostgresExpansion::advance(const PostgresPipeline& pipeline,
                                                     const PostgresIndex& index, JobId job) {
  if (list_.valid()) {
    if (list_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
    made_.emplace(job_, std::move(list_));
  }
  if (auto made = made_.extract(job)) return made.mapped().get();
  job_ = job;
  list_ =
      std::async(std::launch::async, [this, pipeline, index, job] { return expand(pipeline, index, job); });
  return std::nullopt;
}

FanOutList PostgresExpansion::expand(const PostgresPipeline& pipeline, const PostgresIndex& index,
                                     JobId job) {
  FanOutList list;
  reading_view(index, [&] {
    while (!expand_further(pipeline, index, job, list)) continue;
  });
  return list;
}

bool PostgresExpansion::expand_further(const PostgresPipeline& pipeline, const PostgresIndex& index,
                                       JobId job, FanOutList& list) {
  PostgresTransaction transaction(session_.session(),
                                  "finding the documents of a large change of " + index.alias,
                                  Isolation::kRepeatableRead);
  const bool complete = PostgresJobs(transaction, pipeline.id()).expand(pipeline, index, job, list);
  transaction.commit();
  return complete;
}

}  // namespace lockstep
