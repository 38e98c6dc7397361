#include "replicator/source/postgres/catalog/place_conditions.h"

#include <algorithm>

namespace lockstep {

void add_and(PlaceCondition& to, const PlaceCondition& other) {
  for (const auto& [places, sets] : other) {
    std::vector<EqualColumns>& known = to[places];
    if (known.size() == 1 && sets.size() == 1)
      known.front().insert(sets.front().begin(), sets.front().end());
    else if (known.empty() || sets.size() == 1)
      known = sets;
  }
}

void add_or(PlaceCondition& to, const PlaceCondition& other) {
  std::erase_if(to, [&](const auto& some) { return !other.contains(some.first); });
  for (auto& [places, sets] : to) {
    for (const EqualColumns& columns : other.at(places)) {
      if (std::find(sets.begin(), sets.end(), columns) == sets.end()) sets.push_back(columns);
    }
  }
}

}  // namespace lockstep
