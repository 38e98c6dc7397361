// Makes a schedule that fails shorter: leaves out halves of its events, then quarters, and at last single
// ones, as long as it still fails. (A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing
// input", 2002)
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tests/proof/simulation/simulation.h"

namespace lockstep::simulation {

/// Runs these events, and no others. The events that came to happen, if the same property fails; else none.
using StillFails = std::function<std::optional<std::vector<Begun>>(const std::vector<Begun>&)>;

std::vector<Begun> shrink(std::vector<Begun> events, const StillFails& still_fails);

}  // namespace lockstep::simulation
