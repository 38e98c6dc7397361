#include "replicator/source/postgres/read/due_finder.h"

#include <chrono>

#include "replicator/source/postgres/read/due.h"
#include "replicator/source/postgres/read/ids.h"

namespace lockstep {

PostgresDueFinder::~PostgresDueFinder() {
  if (!found_.valid()) return;
  do session_.cancel();
  while (found_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready);
}

std::optional<FoundDue> PostgresDueFinder::advance(const PostgresPipeline& pipeline,
                                                   const PostgresIndex& index) {
  if (found_.valid() && found_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    results_[index_] = std::move(found_);
  if (const auto result = results_.extract(index.id)) return result.mapped().get();
  if (!found_.valid()) {
    index_ = index.id;
    found_ = std::async(std::launch::async, [this, pipeline, index] { return find(pipeline, index); });
  }
  return std::nullopt;
}

FoundDue PostgresDueFinder::find(const PostgresPipeline& pipeline, const PostgresIndex& index) {
  FoundDue found;
  std::optional<PostgresDue::Search> search;
  reading_view(index, [&] {
    for (bool is_more = true; is_more;) {
      PostgresTransaction transaction(session_.session(),
                                      "finding the documents of a large change of " + index.alias,
                                      Isolation::kReadCommitted);
      PostgresDue due(transaction);
      if (!search) {
        if (const auto last = due.last_change(index.id)) search.emplace().up_to = *last;
      }
      is_more = search && due.find(pipeline, index, *search, found);
      transaction.commit();
    }
  });
  return found;
}

}  // namespace lockstep
