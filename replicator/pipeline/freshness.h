// For how much of the last day a pipeline met its objective, `[slo] lag`: it kept no committed change waiting
// for longer. The leader notes it once a second and publishes it with its status; the next leader continues
// from there, so that the time between the two counts as missed.
//
// F1. Time without a note counts as missed: no leader, one that hangs, a machine that sleeps.
// F2. The time before the first leader with this objective is unknown, and counts neither way.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "replicator/wall_time.h"

namespace lockstep {

struct FreshnessReport {
  std::chrono::milliseconds objective{};  ///< `[slo] lag`
  std::chrono::milliseconds known{};      ///< of the last day; more than 0
  std::chrono::milliseconds missed{};     ///< of `known`

  /// From 0 to 1: for how much of the known time the objective was met.
  double share() const;
};

/// {"lag_seconds": …, "share": …, "known_seconds": …}; null for none.
nlohmann::ordered_json to_json(const std::optional<FreshnessReport>& report);

class Freshness {
 public:
  static constexpr std::chrono::minutes kStep{5};
  static constexpr std::int64_t kSteps = 288;
  /// The longest time for which one note vouches.
  static constexpr std::chrono::seconds kNoteCovers{3};

  /// Nothing is known of the time before `now`.
  Freshness(std::chrono::milliseconds objective, WallTime now);

  /// The leader's notes in pipeline_status.document, published `age` ago; none: it had no objective. Two
  /// machines may differ in their clocks, so the times in it count from `now`. Throws Error if it cannot be
  /// read.
  static std::optional<Freshness> published(const std::string& document, std::chrono::milliseconds age,
                                            WallTime now);

  /// For pipeline_status.document.
  nlohmann::ordered_json json() const;

  /// Notes whether the objective was met in the time since the last note. A time before the last note counts
  /// nothing; well before it, the clock was put back, and the notes move with it.
  void note(WallTime at, bool met);

  /// None: nothing is known yet. The time since the last note counts as missed.
  std::optional<FreshnessReport> report(WallTime now) const;

  std::chrono::milliseconds objective() const { return objective_; }
  /// Of the last note.
  WallTime until() const { return until_; }

 private:
  using Time = std::chrono::sys_time<std::chrono::milliseconds>;

  /// Takes `other` for the end, as if all had been noted by its clock.
  void move_to(Time other);
  void miss(Time from, Time to);

  std::chrono::milliseconds objective_;
  Time since_;
  Time until_;
  std::map<std::int64_t, std::chrono::milliseconds> missed_;  // by step since 1970; those of 0 are missing
};

}  // namespace lockstep
