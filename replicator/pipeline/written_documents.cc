#include "replicator/pipeline/written_documents.h"

#include <algorithm>
#include <utility>

namespace lockstep {

void WrittenDocuments::add(IndexId index, const DocumentId& id, DocumentVersion version) {
  const MutexLock lock(mutex_);
  const auto [known, is_new] = latest_[index].try_emplace(id.text, version);
  known->second = std::max(known->second, version);
  if (!is_new || ++number_ < kRemembered) return;
  before_ = std::exchange(latest_, {});
  number_ = 0;
}

bool WrittenDocuments::has(const Versions& versions, IndexId index, const DocumentId& id,
                           DocumentVersion version) {
  const auto of_index = versions.find(index);
  if (of_index == versions.end()) return false;
  const auto known = of_index->second.find(id.text);
  return known != of_index->second.end() && known->second >= version;
}

bool WrittenDocuments::has(IndexId index, const DocumentId& id, DocumentVersion version) const {
  const MutexLock lock(mutex_);
  return has(latest_, index, id, version) || has(before_, index, id, version);
}

}  // namespace lockstep
