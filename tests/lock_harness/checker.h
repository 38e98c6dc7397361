// What must hold when everybody is dead and a survivor has cleared up, whatever happened before:
//
//   left       nothing is locked, and no operation is open
//   whole      an operation that is done has written all of its registers, one that is aborted none
//   apart      of two operations that share a register, all writes of the one that committed first come
//   before
//              all writes of the other
//   replayed   each register holds what a replay of the operations in the order of their commits gives
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tests/lock_harness/client.h"

namespace lockstep::harness {

struct Findings {
  std::int64_t opened = 0;
  std::int64_t done = 0;
  std::int64_t aborted = 0;
  std::int64_t adopted = 0;  ///< finished by another one than who began it
  std::vector<std::string> violations;
};

/// Clears up, unless the world is without recovery, and looks.
Findings check(const World& world);

}  // namespace lockstep::harness
