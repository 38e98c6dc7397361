#include "replicator/source/outbox/due_searches.h"

#include <utility>

namespace lockstep {

std::optional<FoundDue> DueSearches::advance(IndexId index, Find find) {
  if (at_work_.valid() && !is_at_work_after(std::chrono::milliseconds(0)))
    ended_[index_] = std::move(at_work_);
  if (const auto ended = ended_.extract(index)) return ended.mapped().get();
  if (!at_work_.valid()) {
    index_ = index;
    at_work_ = in_background(std::move(find));
  }
  return std::nullopt;
}

bool DueSearches::is_at_work_after(std::chrono::milliseconds time) const {
  return at_work_.valid() && !at_work_.has_ended(time);
}

}  // namespace lockstep
