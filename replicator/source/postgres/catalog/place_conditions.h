// Equalities that conditions establish between the places of a view, and their combination.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace lockstep {

using PlacePair = std::pair<std::size_t, std::size_t>;
using EqualColumns = std::set<std::pair<int, int>>;

/// A condition's requirement: for two places, their equal columns; of several sets at least one.
using PlaceCondition = std::map<PlacePair, std::vector<EqualColumns>>;

void add_and(PlaceCondition& to, const PlaceCondition& other);
void add_or(PlaceCondition& to, const PlaceCondition& other);

}  // namespace lockstep
