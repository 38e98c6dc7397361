// The command line: one parser for all commands, and the one place where exceptions become messages and exit
// codes.
#pragma once

#include "replicator/build_info.h"

namespace lockstep {

/// Parses, runs the command, returns the process's exit code (exit_code.h). Never throws. `build` is for
/// --version.
int run_command_line(int argc, const char* const* argv, const BuildInfo& build = {});

}  // namespace lockstep
