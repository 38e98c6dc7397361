// What must hold of the tree when every client is dead and a survivor has cleared up, whatever happened
// before:
//
//   left       nothing is locked, no operation is unresolved, no staged contents are left
//   apart      of two operations whose locks exclude each other, one had ended before the other committed
//   replayed   a replay of the operations in the order of their commits gives the same documents: none is
//              lost or doubled, and each has the right path and contents
#pragma once

#include <map>
#include <string>

#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Clears up, unless the world is without recovery, and checks. `staged`: the contents of puts by operation,
/// as the clients reported them.
Findings check_tree(const World& world, const std::map<std::string, std::string>& staged);

}  // namespace lockstep::harness
