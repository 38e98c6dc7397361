#include "replicator/pipeline/written_documents.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

namespace lockstep {
namespace {

constexpr std::size_t kCacheSlots = 2 * WrittenDocuments::kRemembered;

// FNV-1a of 64 bits (Fowler, Noll, Vo).
std::uint64_t hash_of(IndexId index, const std::string& id) {
  std::uint64_t hash = 14695981039346656037ULL ^ static_cast<std::uint32_t>(index.value);
  for (const char byte : id) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  return hash;
}

}  // namespace

// A document is in one of two slots, a cache of two ways: of the two the older one makes room.
WrittenDocuments::Place WrittenDocuments::place_of(IndexId index, const DocumentId& id) {
  const std::size_t other = std::hash<std::string>()(id.text) + static_cast<std::size_t>(index.value);
  return {other % kCacheSlots, hash_of(index, id.text)};
}

void WrittenDocuments::add(IndexId index, const DocumentId& id, DocumentVersion version) {
  const Place place = place_of(index, id);
  const MutexLock lock(mutex_);
  if (slots_.empty()) slots_.resize(kCacheSlots);
  const std::array<Slot*, 2> ways{&slots_[place.slot], &slots_[place.slot ^ 1]};
  const auto known =
      std::ranges::find_if(ways, [&](const Slot* slot) { return slot->document == place.document; });
  Slot& slot = known != ways.end() ? **known : **std::ranges::min_element(ways, {}, &Slot::version);
  if (known == ways.end()) slot = {place.document, version};
  slot.version = std::max(slot.version, version);
}

bool WrittenDocuments::has(IndexId index, const DocumentId& id, DocumentVersion version) const {
  const Place place = place_of(index, id);
  const MutexLock lock(mutex_);
  if (slots_.empty()) return false;
  return std::ranges::any_of(std::array{slots_[place.slot], slots_[place.slot ^ 1]}, [&](const Slot& slot) {
    return slot.document == place.document && slot.version >= version;
  });
}

}  // namespace lockstep
