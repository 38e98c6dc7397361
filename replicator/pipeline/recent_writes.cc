#include "replicator/pipeline/recent_writes.h"

#include <algorithm>

namespace lockstep {
namespace {

// Several times the documents that are on their way at once.
constexpr std::size_t kSlots = 32'768;

}  // namespace

RecentWrites::RecentWrites() : slots_(kSlots) {}

void RecentWrites::add(std::size_t document, DocumentVersion version) {
  Slot& slot = slots_[place_of(document)];
  if (slot.document != document) {
    slot.forgotten = std::max(slot.forgotten, slot.version);
    slot.document = document;
    slot.version = version;
  }
  slot.version = std::max(slot.version, version);
}

RecentWrites::Owner RecentWrites::owner_of_newer(std::size_t document, DocumentVersion version) const {
  const Slot& slot = slots_[place_of(document)];
  if (slot.document == document && slot.version > version) return Owner::kUs;
  return slot.forgotten > version ? Owner::kUnknown : Owner::kOthers;
}

}  // namespace lockstep
