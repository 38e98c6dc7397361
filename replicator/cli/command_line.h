// The command line as a whole: the verbs behind one parser, and the one place where exceptions become
// messages and exit codes.
#pragma once

namespace lockstep {

/// Parses, runs the verb, returns the process's exit code (exit_code.h). Never throws.
int run_command_line(int argc, const char* const* argv);

}  // namespace lockstep
