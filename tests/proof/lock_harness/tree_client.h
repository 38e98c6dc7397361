// A client process: random changes of the tree until it is killed. At any request it may die by itself, or
// sleep for longer than its lease. It reports on standard output what it stages: "staged <operation>
// <contents>".
#pragma once

#include <cstdint>

#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Never returns.
[[noreturn]] void run_tree_client(const World& world, std::uint64_t seed);

}  // namespace lockstep::harness
