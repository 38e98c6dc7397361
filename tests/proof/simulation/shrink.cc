#include "tests/proof/simulation/shrink.h"

#include <algorithm>
#include <utility>

namespace lockstep::simulation {

std::vector<Begun> shrink(std::vector<Begun> events, const StillFails& still_fails) {
  bool is_over = events.empty();
  for (std::size_t part = (events.size() + 1) / 2; !is_over; part = (part + 1) / 2) {
    bool is_shorter = false;
    // From the end: what comes after the failure is not needed, and what comes last is least.
    for (std::size_t end = events.size(); end > 0;) {
      const std::size_t begin = end - std::min(part, end);
      std::vector<Begun> rest(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), events.begin() + static_cast<std::ptrdiff_t>(end), events.end());
      if (std::optional<std::vector<Begun>> left = still_fails(rest)) {
        is_shorter = true;
        events = *std::move(left);
      }
      end = std::min(begin, events.size());
    }
    is_over = part <= 1 && !is_shorter;
  }
  return events;
}

}  // namespace lockstep::simulation
