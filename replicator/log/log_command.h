// The user of a command that makes changes: on standard error and, if this machine has a journal, in there,
// with the fields of the service's own lines. So a reader of a pipeline's journal finds both.
#pragma once

#include <string>

namespace lockstep {

/// "apply of pipeline shop by alice on app1". Call it when the command begins to change something. `command`
/// is a word or two: "apply", "dead-letters discard". The user is the caller of sudo, if it was used.
void log_command(const std::string& command, const std::string& pipeline);

}  // namespace lockstep
