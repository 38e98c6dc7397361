// Where random input comes from: a seed that is printed, so that a failure can be repeated.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::support {

/// LOCKSTEP_TEST_SEED when it is set, else a new one. Printed, with how to repeat it, each time it is asked
/// for.
std::uint64_t random_seed();

/// `length` random lower-case letters and digits, for names that no other test has. Not from the seed.
std::string random_name(int length = 10);

}  // namespace lockstep::support
