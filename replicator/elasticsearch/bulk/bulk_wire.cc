#include "replicator/elasticsearch/bulk/bulk_wire.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

// Of background requests while none is on the wire: endless small changes would keep them off it if there is
// one place.
constexpr std::chrono::milliseconds kLongestWait{500};

}  // namespace

BulkWire::BulkWire(int requests, std::size_t bytes, SlowWrites slow)
    : bytes_(bytes), window_(requests, bytes), slow_(std::move(slow)) {}

std::optional<BulkWire::Pass> BulkWire::enter(std::uint64_t ticket, const BulkRequest& request,
                                              BulkPriority priority) {
  MutexLock lock(mutex_);
  SteadyTime now = steady_now();
  if (priority == BulkPriority::kBackground && background_waiting_++ == 0) background_waits_since_ = now;
  while (!closed_ && !has_room(priority, now)) {
    if (const std::optional<SteadyTime> next = slow_.next_change(now)) {
      freed_.wait_until(lock, *next);
    } else {
      freed_.wait(lock);
    }
    now = steady_now();
  }
  if (priority == BulkPriority::kBackground) --background_waiting_;
  if (closed_) return std::nullopt;
  ++on_wire_;
  if (priority == BulkPriority::kBackground) {
    ++background_on_wire_;
    background_waits_since_ = now;
  }
  slow_.sent(ticket, request, priority, now);
  return Pass{priority, ticket, window_.generation(), window_.bytes()};
}

void BulkWire::leave(const Pass& pass, BulkReply::Kind load, std::size_t piece_bytes) {
  const MutexLock lock(mutex_);
  --on_wire_;
  const SteadyTime now = steady_now();
  if (pass.priority == BulkPriority::kBackground) {
    --background_on_wire_;
    background_waits_since_ = now;
  }
  const bool yielded_slot = slow_.yields_slot(pass.ticket, now);
  slow_.came_back(pass.ticket, load == BulkReply::Kind::kItems, now);
  switch (load) {
    case BulkReply::Kind::kItems:
      window_.came_through();
      break;
    case BulkReply::Kind::kOverloaded:
      // Refusals of a slow index mean nothing for the others.
      if (!yielded_slot) window_.overloaded(pass.generation);
      break;
    case BulkReply::Kind::kTooLarge:
      window_.too_large(piece_bytes);
      break;
    case BulkReply::Kind::kRetry:
    case BulkReply::Kind::kRejected:
      break;
  }
  freed_.notify_all();
}

void BulkWire::limit_background(std::size_t requests) {
  const MutexLock lock(mutex_);
  const std::size_t limit = std::max<std::size_t>(1, requests);
  if (std::exchange(background_limit_, limit) != limit) freed_.notify_all();
}

std::size_t BulkWire::background_waiting() const {
  const MutexLock lock(mutex_);
  return background_waiting_;
}

BulkWire::Limits BulkWire::limits() const {
  const MutexLock lock(mutex_);
  return {window_.requests(), std::min(window_.bytes(), bytes_)};
}

void BulkWire::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  freed_.notify_all();
}

bool BulkWire::is_slow(IndexId index) const {
  const MutexLock lock(mutex_);
  return slow_.is_slow(index, steady_now());
}

std::vector<IndexId> BulkWire::slow_for(std::chrono::milliseconds time) const {
  const MutexLock lock(mutex_);
  return slow_.slow_for(time, steady_now());
}

bool BulkWire::yields_slot(std::uint64_t ticket) const {
  const MutexLock lock(mutex_);
  return slow_.yields_slot(ticket, steady_now());
}

bool BulkWire::has_room(BulkPriority priority, SteadyTime now) const {
  const std::size_t background_given = slow_.places_given(BulkPriority::kBackground, now);
  const std::size_t given = background_given + slow_.places_given(BulkPriority::kNormal, now);
  if (on_wire_ - given >= static_cast<std::size_t>(window_.requests())) return false;
  if (priority == BulkPriority::kNormal && background_starves(now)) return false;
  return priority == BulkPriority::kNormal || background_on_wire_ - background_given < background_limit_;
}

bool BulkWire::background_starves(SteadyTime now) const {
  return background_waiting_ > 0 && background_on_wire_ == 0 && now - background_waits_since_ >= kLongestWait;
}

}  // namespace lockstep
