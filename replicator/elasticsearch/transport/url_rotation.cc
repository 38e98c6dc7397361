#include "replicator/elasticsearch/transport/url_rotation.h"

namespace lockstep {

std::size_t UrlRotation::next(SteadyTime now) {
  std::size_t best = next_;
  for (std::size_t i = 0; i < count(); ++i) {
    const std::size_t candidate = (next_ + i) % count();
    if (rests_until_[candidate] <= now) {
      best = candidate;
      break;
    }
    if (rests_until_[candidate] < rests_until_[best]) best = candidate;
  }
  next_ = (best + 1) % count();
  return best;
}

}  // namespace lockstep
