#include "replicator/elasticsearch/bulk/bulk_wire.h"

#include <algorithm>
#include <utility>

namespace lockstep {

BulkWire::BulkWire(int requests, std::size_t bytes)
    : bytes_(bytes), window_(requests, bytes), search_({requests - 1, bytes}) {}

std::optional<BulkWire::Pass> BulkWire::enter(BulkPriority priority) {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [&] { return closed_ || has_room(priority); });
  if (closed_) return std::nullopt;
  ++on_wire_;
  if (priority == BulkPriority::kBackground) ++background_on_wire_;
  note_room(SystemClock().now());
  return Pass{priority, window_.generation(), window_.bytes()};
}

void BulkWire::leave(const Pass& pass, BulkDelivery::Load load, std::size_t piece_bytes) {
  const std::lock_guard lock(mutex_);
  --on_wire_;
  if (pass.priority == BulkPriority::kBackground) --background_on_wire_;
  const SteadyTime now = SystemClock().now();
  note_room(now);
  switch (load) {
    case BulkDelivery::Load::kTaken:
      window_.came_through();
      search_.came_through(piece_bytes, now);
      break;
    case BulkDelivery::Load::kOverloaded:
      window_.overloaded(pass.generation);
      search_.interrupted();
      break;
    case BulkDelivery::Load::kTooLarge:
      window_.too_large(piece_bytes);
      break;
    case BulkDelivery::Load::kUnknown:
      break;
  }
  freed_.notify_all();
}

void BulkWire::limit_background(std::size_t requests) {
  const std::lock_guard lock(mutex_);
  const std::size_t before = std::exchange(background_limit_, std::max<std::size_t>(1, requests));
  if (background_limit_ == before) return;
  search_.interrupted();
  freed_.notify_all();
}

std::size_t BulkWire::background_bytes() const {
  const std::lock_guard lock(mutex_);
  return search_.setting().bytes;
}

BulkWire::Limits BulkWire::limits() const {
  const std::lock_guard lock(mutex_);
  return {window_.requests(), std::min(window_.bytes(), bytes_)};
}

void BulkWire::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  freed_.notify_all();
}

bool BulkWire::has_room(BulkPriority priority) const {
  if (on_wire_ >= window_.requests()) return false;
  const auto fastest = static_cast<std::size_t>(search_.setting().requests);
  return priority == BulkPriority::kNormal || background_on_wire_ < std::min(background_limit_, fastest);
}

void BulkWire::note_room(SteadyTime now) {
  search_.has_room(has_room(BulkPriority::kNormal) && has_room(BulkPriority::kBackground), now);
}

}  // namespace lockstep
