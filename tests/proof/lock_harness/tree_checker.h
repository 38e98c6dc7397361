// What must hold of the tree when everybody is dead and a survivor has cleared up, whatever happened before:
//
//   left       nothing is locked, no operation is open, no contents wait to be put
//   apart      of two operations whose locks exclude each other, one had ended before the other committed
//   replayed   the documents are those that a replay of the operations in the order of their commits gives:
//              none is lost, none is twice there, each has the path and the contents that it should
#pragma once

#include <map>
#include <string>

#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Clears up, unless the world is without recovery, and looks. `staged` is what the clients have said of the
/// contents that they put, by operation.
Findings check_tree(const World& world, const std::map<std::string, std::string>& staged);

}  // namespace lockstep::harness
