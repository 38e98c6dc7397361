#include "replicator/pipeline/look_pace.h"

#include <algorithm>

namespace lockstep {
namespace {

using std::chrono::milliseconds;

constexpr int kPartOfRest = 500;
constexpr int kMostIntervals = 5;
constexpr milliseconds kRarest{100};  // unless a longer one is configured

// A stop is noticed after this time.
constexpr milliseconds kShortestWait{200};
constexpr milliseconds kLongestWait{1'000};
constexpr int kWaitOfRest = 10;

}  // namespace

LookPace look_pace(milliseconds rest, milliseconds poll_interval) {
  const milliseconds rarest = std::max(poll_interval, std::min(kMostIntervals * poll_interval, kRarest));
  const milliseconds check_every = std::clamp(rest / kPartOfRest, poll_interval, rarest);
  const milliseconds at_most = std::clamp(rest / kWaitOfRest, kShortestWait, kLongestWait);
  return {check_every, std::max(check_every, at_most)};
}

}  // namespace lockstep
