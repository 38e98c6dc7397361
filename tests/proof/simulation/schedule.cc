#include "tests/proof/simulation/schedule.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep::simulation {

std::uint64_t Lot::next() {
  std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15ULL;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

Schedule::Schedule(std::uint64_t seed, std::optional<std::set<std::string>> only)
    : seed_(seed), only_(std::move(only)) {}

Lot Schedule::lot(const std::string& of) const {
  std::uint64_t state = Lot(seed_).next();
  for (const char c : of) state = Lot(state ^ static_cast<unsigned char>(c)).next();
  return Lot(state);
}

Event Schedule::next(const std::string& source) {
  std::string name = source + "." + std::to_string(++events_[source]);
  const Lot of_event = lot(name);
  const bool happens = !only_ || only_->contains(name);
  if (only_ && happens) come_.insert(name);
  return {std::move(name), of_event, happens};
}

std::vector<std::string> Schedule::unknown() const {
  std::vector<std::string> unknown;
  if (only_) std::ranges::set_difference(*only_, come_, std::back_inserter(unknown));
  return unknown;
}

}  // namespace lockstep::simulation
