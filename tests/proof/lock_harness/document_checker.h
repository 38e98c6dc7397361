// What must hold of the documents when every client is dead and a survivor has cleared up, whatever happened
// before:
//
//   left       nothing is locked, and no operation is unresolved
//   ordered    the tokens in a document's log never go back, and its fence is the last of them
//   once       no write is in a log twice
//   kept       what the server has acknowledged is in the log
#pragma once

#include <set>
#include <string>

#include "tests/proof/lock_harness/crowd.h"
#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

/// Clears up, and checks. `heard`: what the clients have reported.
Findings check_documents(const World& world, const Heard& heard);

}  // namespace lockstep::harness
