// Finds the number and the size of requests on the wire with which Elasticsearch takes most: hill climbing
// over measured throughput. The search tries a neighbour of the best setting so far in turns with it, since
// the load of a cluster changes by itself too, and adopts the neighbour when it wins three turns in a row.
// When no neighbour wins, the search pauses, each time for longer.
//
// It stays within the given limits; the congestion window deals with overload. No network, no clock, no
// threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace lockstep {

class ThroughputSearch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Setting {
    int requests = 1;       ///< on the wire at once
    std::size_t bytes = 0;  ///< of one, at most
    bool operator==(const Setting&) const = default;
  };

  /// Begins with both at their most.
  explicit ThroughputSearch(const Setting& most);

  /// What requests should follow now.
  const Setting& setting() const { return trying_ ? trial_->setting : best_; }

  /// A request of so many bytes has come through.
  void came_through(std::size_t bytes, Time now);

  /// Call it whenever it changes whether one more request could be on the wire. While there is room,
  /// Elasticsearch is not what limits the throughput, and the search learns nothing.
  void has_room(bool room, Time now);

  /// Something other than the setting changed the throughput: overload, or other limits. Drops the
  /// measurement under way.
  void interrupted();

 private:
  struct Measurement {
    std::optional<Time> begun = {};
    std::size_t requests = 0;
    std::size_t bytes = 0;
    Time::duration room = {};  // with room on the wire
  };
  struct Trial {
    Setting setting;
    int turns_won = 0;
  };

  void turn_ended(double rate, Time now);
  void begin_trial(Time now);
  void next_direction();
  std::optional<Setting> neighbour() const;

  const Setting most_;
  Setting best_;
  double best_rate_ = 0;     // in its last turn, bytes a second
  std::size_t largest_ = 0;  // request in the best one's turns
  std::optional<Trial> trial_;
  bool trying_ = false;       // it is the trial's turn
  int direction_ = 0;         // in which the next trial lies
  int directions_tried_ = 0;  // without a gain
  Measurement measured_;
  std::optional<Time> room_since_;
  std::optional<Time> resumes_at_;
  std::chrono::seconds pause_;
};

}  // namespace lockstep
