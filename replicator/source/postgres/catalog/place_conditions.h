// What conditions say is equal in the places of a view, and how that adds up.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace lockstep {

using PlacePair = std::pair<std::size_t, std::size_t>;
using EqualColumns = std::set<std::pair<int, int>>;

/// What a condition asks for: by two places, what is equal; of several sets one at least.
using PlaceCondition = std::map<PlacePair, std::vector<EqualColumns>>;

void add_and(PlaceCondition& to, const PlaceCondition& other);
void add_or(PlaceCondition& to, const PlaceCondition& other);

}  // namespace lockstep
