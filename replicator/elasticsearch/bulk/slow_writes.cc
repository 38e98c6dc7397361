#include "replicator/elasticsearch/bulk/slow_writes.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

// A slow index may be quick in between. What shares a request with it then may wait for the next slow answer.
constexpr std::chrono::seconds kApartFor{60};

// What an index has proved to be says little once nothing has been written to it for so long.
constexpr std::chrono::seconds kProvedFor{60};

constexpr std::size_t kBytesPerSecond = 1024 * 1024;

}  // namespace

SlowWrites::SlowWrites(std::size_t indices, std::chrono::milliseconds patience)
    : indices_(indices), patience_(patience) {}

void SlowWrites::sent(std::uint64_t ticket, const BulkRequest& request, BulkPriority priority,
                      SteadyTime now) {
  OnWire on_wire;
  for (const BulkItem& item : request.items()) on_wire.indices.insert(on_wire.indices.end(), item.key.index);
  on_wire.priority = priority;
  on_wire.long_at = now + patience_ + std::chrono::milliseconds(1'000 * request.bytes() / kBytesPerSecond);
  on_wire_[ticket] = std::move(on_wire);
}

void SlowWrites::came_back(std::uint64_t ticket, bool taken, SteadyTime now) {
  note_long(now);
  const auto request = on_wire_.find(ticket);
  if (taken && now < request->second.long_at) {
    for (const IndexId index : request->second.indices) {
      if (const auto slow = slow_.find(index); slow != slow_.end())
        slow->second.lasts = slow->second.is_proved = false;
    }
  }
  on_wire_.erase(request);
}

bool SlowWrites::is_slow(IndexId index, SteadyTime now) {
  note_long(now);
  const auto slow = slow_.find(index);
  return slow != slow_.end() && slow->second.lasts && !all_are_proved(now);
}

bool SlowWrites::is_proved_slow(IndexId index, SteadyTime now) {
  return is_slow(index, now) && slow_.at(index).is_proved;
}

std::vector<IndexId> SlowWrites::slow_for(std::chrono::milliseconds time, SteadyTime now) {
  note_long(now);
  if (all_are_proved(now)) return {};
  std::vector<IndexId> proved;
  std::vector<IndexId> suspected;
  for (const auto& [index, slow] : slow_) {
    if (!slow.lasts || now - slow.began < time || now - slow.last_seen >= time) continue;
    (slow.is_proved ? proved : suspected).push_back(index);
  }
  return proved.empty() ? suspected : proved;
}

bool SlowWrites::goes_apart(IndexId index, SteadyTime now) {
  note_long(now);
  const auto slow = slow_.find(index);
  return slow != slow_.end() && (slow->second.lasts || now - slow->second.last_seen < kApartFor);
}

bool SlowWrites::gives_place(std::uint64_t ticket, SteadyTime now) {
  note_long(now);
  const auto request = on_wire_.find(ticket);
  return request != on_wire_.end() && gives_place(request->second, now);
}

std::size_t SlowWrites::places_given(BulkPriority priority, SteadyTime now) {
  note_long(now);
  return static_cast<std::size_t>(std::count_if(on_wire_.begin(), on_wire_.end(), [&](const auto& request) {
    return request.second.priority == priority && gives_place(request.second, now);
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
    for (const IndexId index : request.indices) {
      Slowness& slow = slow_[index];
      slow.last_seen = now;
      if (!is_new) continue;
      if (!std::exchange(slow.lasts, true)) slow.began = now;
      if (request.indices.size() == 1) slow.is_proved = true;
    }
  }
}

bool SlowWrites::all_are_proved(SteadyTime now) const {
  const auto proved = std::count_if(slow_.begin(), slow_.end(), [&](const auto& index) {
    return index.second.is_proved && now - index.second.last_seen < kProvedFor;
  });
  return static_cast<std::size_t>(proved) >= indices_;
}

bool SlowWrites::gives_place(const OnWire& request, SteadyTime now) const {
  if (all_are_proved(now)) return false;
  return now >= request.long_at ||
         std::any_of(request.indices.begin(), request.indices.end(), [&](IndexId index) {
           const auto slow = slow_.find(index);
           return slow != slow_.end() && slow->second.lasts;
         });
}

}  // namespace lockstep
