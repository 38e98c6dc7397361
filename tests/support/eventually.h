// Waiting for what happens soon. A test that waits for something calls this, and does not sleep itself.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace lockstep::support {

/// Asks `condition` again and again until it is true or `deadline` has passed; returns the last answer.
/// Asking may take a program's start: the pauses are three times as long as it takes (`interval` at least, a
/// quarter of a second at most), so that those who wait leave the processors to what they wait for.
///   ASSERT_TRUE(wait_until([&] { return index.count() == 3; }, 10s));
template <class Condition>
bool wait_until(const Condition& condition, std::chrono::milliseconds deadline,
                std::chrono::milliseconds interval = std::chrono::milliseconds(10)) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kLongestPause = std::chrono::milliseconds(250);
  const auto end = Clock::now() + deadline;
  for (;;) {
    const auto asked = Clock::now();
    if (condition()) return true;
    const auto answered = Clock::now();
    if (answered >= end) return condition();
    std::this_thread::sleep_for(
        std::max<Clock::duration>(interval, std::min(3 * (answered - asked), kLongestPause)));
  }
}

}  // namespace lockstep::support
