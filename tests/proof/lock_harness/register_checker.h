// What must hold of the registers when every client is dead and a survivor has cleared up, whatever happened
// before:
//
//   left       nothing is locked, and no operation is unresolved
//   whole      an operation that is done has written all of its registers, an aborted one none
//   apart      of two operations that share a register, the first to commit did all of its writes before
//              the other's first
//   replayed   a replay of the operations in the order of their commits gives the same values
#pragma once

#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Clears up, unless the world is without recovery, and checks.
Findings check_registers(const World& world);

}  // namespace lockstep::harness
