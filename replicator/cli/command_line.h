// The command line: one parser for all commands, and the one place where exceptions become messages and exit
// codes.
#pragma once

namespace lockstep {

/// Parses, runs the command, returns the process's exit code (exit_code.h). Never throws.
int run_command_line(int argc, const char* const* argv);

}  // namespace lockstep
