#include "replicator/pipeline/tail_deletions.h"

#include <algorithm>

namespace lockstep {
namespace {

// Some seconds of the fastest tail, and some MiB.
constexpr std::size_t kMost = 50'000;

}  // namespace

void TailDeletions::end() {
  is_noting_ = false;
  deleted_.clear();
}

void TailDeletions::note(const BulkRequest& request) {
  if (!is_noting_) return;
  for (const BulkItem& item : request.items()) {
    if (item.action != BulkAction::kDelete) continue;
    DocumentVersion& version = deleted_[{item.key.index, item.key.id}];
    version = std::max(version, item.version);
  }
}

bool TailDeletions::has_newer(const BulkItem& item) const {
  const auto found = deleted_.find({item.key.index, item.key.id});
  return found != deleted_.end() && found->second > item.version;
}

bool TailDeletions::is_full() const {
  return deleted_.size() >= kMost;
}

}  // namespace lockstep
