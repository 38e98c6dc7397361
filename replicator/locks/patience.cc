#include "replicator/locks/patience.h"

#include <algorithm>
#include <utility>

#include "replicator/pause.h"
#include "replicator/quantity.h"

namespace lockstep {

using std::chrono::milliseconds;

Patience::Patience(milliseconds limit, std::stop_token stop)
    : limit_(limit), end_(SystemClock().now() + limit), stop_(std::move(stop)) {}

milliseconds Patience::left() const {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(end_ - SystemClock().now()));
}

Error Patience::exhausted(const Error& error) const {
  if (limit_ == milliseconds(0)) return error;
  Error::Parts parts = error.parts();
  const milliseconds tried = stop_.stop_requested() ? limit_ - left() : limit_;
  parts.cause += " (tried again for " + duration_text(tried) + ")";
  return Error(parts);
}

bool Patience::wait(milliseconds time) const {
  const milliseconds rest = left();
  return rest > milliseconds(0) && pause(std::min(time, rest), stop_);
}

}  // namespace lockstep
