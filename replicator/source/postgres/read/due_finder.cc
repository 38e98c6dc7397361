#include "replicator/source/postgres/read/due_finder.h"

#include <chrono>

#include "replicator/source/postgres/read/due.h"
#include "replicator/source/postgres/read/ids.h"

namespace lockstep {

PostgresDueFinder::~PostgresDueFinder() {
  // A statement may begin just after a cancellation, so once is not enough.
  for (std::chrono::milliseconds time(0); searches_.is_at_work_after(time);
       time = std::chrono::milliseconds(50))
    session_.cancel();
}

std::optional<FoundDue> PostgresDueFinder::advance(const PostgresPipeline& pipeline,
                                                   const PostgresIndex& index) {
  return searches_.advance(index.id, [this, pipeline, index] { return find(pipeline, index); });
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
