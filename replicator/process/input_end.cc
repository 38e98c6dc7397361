#include "replicator/process/input_end.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace lockstep {

InputEnd::Cause InputEnd::wait(const std::function<SteadyTime()>& good_until) {
  using std::chrono::milliseconds;
  constexpr milliseconds kLook{500};
  const SystemClock clock;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(good_until() - clock.now());
    pollfd waits[] = {
        {STDIN_FILENO, POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}, {lost_.descriptor(), POLLIN, 0}};
    ::poll(waits, 3, static_cast<int>(std::clamp(left, milliseconds(0), kLook).count()));
    while (const auto caught = signals_.next()) {
      if (ends_a_program(caught->number)) return {.signal = caught->number};
    }
    if (waits[2].revents != 0 || clock.now() >= good_until()) return {.lost = true};
    if (waits[0].revents == 0) continue;
    std::array<char, 4'096> ignored{};
    const ssize_t length = ::read(STDIN_FILENO, ignored.data(), ignored.size());
    if (length == 0 || (length < 0 && errno != EINTR && errno != EAGAIN)) return {};
  }
}

}  // namespace lockstep
