// Documents that clients of two kinds change under document locks: those of the Python package, and children
// of `lockstep lock`. Each document keeps the log of its writes, each with its fencing token. Nobody can
// finish what a dead client has begun, and the safeguard is the fence alone.
#pragma once

#include <string>
#include <vector>

#include "tests/proof/lock_harness/crowd.h"
#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// The ids of the documents.
std::vector<std::string> document_ids();

std::string document_index(const World& world);

/// Writes the documents as they are at first.
void write_documents(const World& world);

/// What starts the clients. `config` is the configuration of the program.
std::vector<Command> document_clients(const World& world, const std::string& config);

/// The text of such a configuration.
std::string configuration_text(const World& world);

}  // namespace lockstep::harness
