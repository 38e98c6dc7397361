#include "replicator/elasticsearch/bulk/slow_writes.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

// That an index is slow means little once it had no writes for so long.
constexpr std::chrono::seconds kKnownFor{60};

constexpr std::size_t kBytesPerSecond = 1024 * 1024;

}  // namespace

SlowWrites::SlowWrites(std::size_t indices, std::chrono::milliseconds patience)
    : indices_(indices), patience_(patience) {}

void SlowWrites::sent(std::uint64_t ticket, const BulkRequest& request, BulkPriority priority,
                      SteadyTime now) {
  OnWire& on_wire = on_wire_[ticket];
  on_wire.index = request.index();
  on_wire.priority = priority;
  on_wire.long_at = now + patience_ + std::chrono::milliseconds(1'000 * request.bytes() / kBytesPerSecond);
}

void SlowWrites::came_back(std::uint64_t ticket, bool taken, SteadyTime now) {
  note_long(now);
  const auto request = on_wire_.find(ticket);
  if (taken && now < request->second.long_at) {
    if (const auto slow = slow_.find(request->second.index); slow != slow_.end()) slow->second.lasts = false;
  }
  on_wire_.erase(request);
}

bool SlowWrites::is_slow(IndexId index, SteadyTime now) {
  note_long(now);
  const auto slow = slow_.find(index);
  return slow != slow_.end() && slow->second.lasts && !all_are_slow(now);
}

std::vector<IndexId> SlowWrites::slow_for(std::chrono::milliseconds time, SteadyTime now) {
  note_long(now);
  if (all_are_slow(now)) return {};
  std::vector<IndexId> indices;
  for (const auto& [index, slow] : slow_) {
    if (slow.lasts && now - slow.began >= time && now - slow.last_seen < time) indices.push_back(index);
  }
  return indices;
}

bool SlowWrites::yields_slot(std::uint64_t ticket, SteadyTime now) {
  note_long(now);
  const auto request = on_wire_.find(ticket);
  return request != on_wire_.end() && yields_slot(request->second, now);
}

std::size_t SlowWrites::places_given(BulkPriority priority, SteadyTime now) {
  note_long(now);
  return static_cast<std::size_t>(std::count_if(on_wire_.begin(), on_wire_.end(), [&](const auto& request) {
    return request.second.priority == priority && yields_slot(request.second, now);
  }));
}

std::optional<SteadyTime> SlowWrites::next_change(SteadyTime now) const {
  std::optional<SteadyTime> next;
  for (const auto& [ticket, request] : on_wire_) {
    if (request.long_at > now && (!next || request.long_at < *next)) next = request.long_at;
  }
  return next;
}

// Each request once: another one with its indices may be taken in time while it is still on the wire.
void SlowWrites::note_long(SteadyTime now) {
  for (auto& [ticket, request] : on_wire_) {
    if (request.priority != BulkPriority::kNormal || now < request.long_at) continue;
    const bool is_new = !std::exchange(request.is_noted, true);
    Slowness& slow = slow_[request.index];
    slow.last_seen = now;
    if (is_new && !std::exchange(slow.lasts, true)) slow.began = now;
  }
}

bool SlowWrites::all_are_slow(SteadyTime now) const {
  const auto slow = std::count_if(slow_.begin(), slow_.end(), [&](const auto& index) {
    return index.second.lasts && now - index.second.last_seen < kKnownFor;
  });
  return static_cast<std::size_t>(slow) >= indices_;
}

bool SlowWrites::yields_slot(const OnWire& request, SteadyTime now) const {
  if (all_are_slow(now)) return false;
  const auto slow = slow_.find(request.index);
  return now >= request.long_at || (slow != slow_.end() && slow->second.lasts);
}

}  // namespace lockstep
