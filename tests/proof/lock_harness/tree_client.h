// A process of the harness: random changes of the tree until it is killed, which at any request it may do
// itself, or sleep for longer than its lease. It says on standard output what it stages: "staged <operation>
// <contents>".
#pragma once

#include <cstdint>

#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Never returns.
[[noreturn]] void run_tree_client(const World& world, std::uint64_t seed);

}  // namespace lockstep::harness
