// Waiting for what happens soon. A test that waits for something calls this, and does not sleep itself.
#pragma once

#include <chrono>
#include <thread>

namespace lockstep::support {

/// Asks `condition` again and again until it is true or `deadline` has passed; returns the last answer.
///   ASSERT_TRUE(wait_until([&] { return index.count() == 3; }, 10s));
template <class Condition>
bool wait_until(const Condition& condition, std::chrono::milliseconds deadline,
                std::chrono::milliseconds interval = std::chrono::milliseconds(10)) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return condition();
    std::this_thread::sleep_for(interval);
  }
  return true;
}

}  // namespace lockstep::support
