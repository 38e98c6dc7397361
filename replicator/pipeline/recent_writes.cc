#include "replicator/pipeline/recent_writes.h"

#include <algorithm>

namespace lockstep {
namespace {

// Several times the documents that are on their way at once.
constexpr std::size_t kSlots = 16'384;

}  // namespace

RecentWrites::RecentWrites() : slots_(kSlots) {}

void RecentWrites::add(std::size_t document, DocumentVersion version, bool is_delete) {
  Slot& slot = slots_[place_of(document)];
  if (slot.document != document) {
    slot.forgotten = std::max(slot.forgotten, slot.version);
    slot.forgotten_deleted = std::max(slot.forgotten_deleted, slot.deleted);
    slot.document = document;
    slot.version = version;
    slot.deleted = {};
  }
  slot.version = std::max(slot.version, version);
  if (is_delete) slot.deleted = std::max(slot.deleted, version);
}

RecentWrites::Owner RecentWrites::owner_of_newer(std::size_t document, DocumentVersion version) const {
  const Slot& slot = slots_[place_of(document)];
  if (slot.document == document && slot.version > version) return Owner::kUs;
  return slot.forgotten > version ? Owner::kUnknown : Owner::kOthers;
}

RecentWrites::Owner RecentWrites::owner_of_newer_deletion(std::size_t document,
                                                          DocumentVersion version) const {
  const Slot& slot = slots_[place_of(document)];
  if (slot.document == document && slot.deleted > version) return Owner::kUs;
  return slot.forgotten_deleted > version ? Owner::kUnknown : Owner::kOthers;
}

}  // namespace lockstep
