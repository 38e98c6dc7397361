#include "replicator/elasticsearch/bulk/throughput_search.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

// The least duration and number of requests of a turn. A turn with room on the wire for more than a quarter
// of its time says nothing.
constexpr std::chrono::milliseconds kTurn{500};
constexpr std::size_t kTurnRequests = 8;
constexpr int kMostRoom = 4;
// Measurements vary by a few percent anyway: three turns won in a row by more than that are no accident.
constexpr double kGain = 1.05;
constexpr int kTurnsToWin = 3;
// Smaller requests cost more than they save.
constexpr std::size_t kLeastTriedBytes = 128 * 1024;
constexpr int kDirections = 4;
constexpr std::chrono::seconds kFirstPause{30};
constexpr std::chrono::seconds kLongestPause{30 * 60};

}  // namespace

ThroughputSearch::ThroughputSearch(const Setting& most)
    : most_{std::max(1, most.requests), most.bytes}, best_(most_), pause_(kFirstPause) {}

void ThroughputSearch::has_room(bool room, Time now) {
  if (room == room_since_.has_value()) return;
  if (room) {
    room_since_ = now;
    return;
  }
  if (measured_.begun) measured_.room += now - std::max(*room_since_, *measured_.begun);
  room_since_.reset();
}

void ThroughputSearch::came_through(std::size_t bytes, Time now) {
  if (resumes_at_) {
    if (now < *resumes_at_) return;
    resumes_at_.reset();
    measured_ = {};
  }
  if (!measured_.begun) {
    measured_.begun = now;
    return;
  }
  ++measured_.requests;
  measured_.bytes += bytes;
  if (!trying_) largest_ = std::max(largest_, bytes);
  const Time::duration took = now - *measured_.begun;
  if (took < kTurn || measured_.requests < kTurnRequests) return;
  if (room_since_) measured_.room += now - std::max(*room_since_, *measured_.begun);
  const bool room = measured_.room * kMostRoom > took;
  const double rate = static_cast<double>(measured_.bytes) / std::chrono::duration<double>(took).count();
  measured_ = {};
  if (!room) turn_ended(rate, now);
}

void ThroughputSearch::interrupted() {
  measured_ = {};
  trying_ = false;
}

void ThroughputSearch::turn_ended(double rate, Time now) {
  if (!std::exchange(trying_, false)) {
    best_rate_ = rate;
    if (!trial_) begin_trial(now);
    trying_ = trial_.has_value();
    return;
  }
  if (rate < best_rate_ * kGain) {
    trial_.reset();
    next_direction();
  } else if (++trial_->turns_won == kTurnsToWin) {
    best_ = trial_->setting;
    trial_.reset();
    largest_ = 0;
    directions_tried_ = 0;  // the next trial goes on in this direction
    pause_ = kFirstPause;
  }
}

void ThroughputSearch::begin_trial(Time now) {
  for (; directions_tried_ < kDirections; next_direction()) {
    if (const std::optional<Setting> next = neighbour()) {
      trial_ = Trial{*next};
      return;
    }
  }
  directions_tried_ = 0;
  resumes_at_ = now + pause_;
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void ThroughputSearch::next_direction() {
  direction_ = (direction_ + 1) % kDirections;
  ++directions_tried_;
}

std::optional<ThroughputSearch::Setting> ThroughputSearch::neighbour() const {
  Setting next = best_;
  switch (direction_) {
    case 0:
      --next.requests;
      break;
    case 1:
      next.bytes = std::min(best_.bytes, largest_) / 2;
      break;
    case 2:
      next.requests = std::min(best_.requests + 1, most_.requests);
      break;
    default:
      next.bytes = std::min(best_.bytes * 2, most_.bytes);
  }
  if (next == best_ || next.requests < 1 || next.bytes < std::min(kLeastTriedBytes, most_.bytes))
    return std::nullopt;
  return next;
}

}  // namespace lockstep
