// Words of commands that people copy from a message into a shell.
#pragma once

#include <string>

namespace lockstep {

/// The word as a POSIX shell reads it: in single quotes unless all its characters are plain.
std::string shell_word(const std::string& word);

}  // namespace lockstep
