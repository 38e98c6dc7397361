// What must hold when everybody is dead and a survivor has cleared up, whatever happened before:
//
//   left       nothing is locked, and no operation is open
//   whole      an operation that is done has written all of its registers, one that is aborted none
//   apart      of two operations that share a register, all writes of the one that committed first come
//   before
//              all writes of the other
//   replayed   each register holds what a replay of the operations in the order of their commits gives
#pragma once

#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Clears up, unless the world is without recovery, and looks.
Findings check_registers(const World& world);

}  // namespace lockstep::harness
