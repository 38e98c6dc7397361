// Settings that make a configuration easier to attack than it need be, but do not keep Lockstep from working.
#pragma once

#include <vector>

#include "replicator/config/config.h"
#include "replicator/source/definition.h"

namespace lockstep {

/// Warnings: secrets that every user of this machine can read, credentials that go over the network in clear
/// text, HTTP on all addresses.
std::vector<Finding> exposure_of(const Config& config);

}  // namespace lockstep
