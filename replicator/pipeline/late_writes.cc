#include "replicator/pipeline/late_writes.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::size_t kPlaces = 16'384;

}  // namespace

LateWrites::LateWrites(SteadyTime of_earlier_leaders)
    : of_earlier_leaders_(of_earlier_leaders), any_(of_earlier_leaders) {}

void LateWrites::add(std::size_t document, SteadyTime now) {
  if (until_.empty()) until_.resize(kPlaces);
  until_[document % kPlaces] = any_ = std::max(any_, now + kLandsWithin);
}

SteadyTime LateWrites::may_land_until(std::size_t document) const {
  if (until_.empty()) return of_earlier_leaders_;
  return std::max(of_earlier_leaders_, until_[document % kPlaces]);
}

}  // namespace lockstep
