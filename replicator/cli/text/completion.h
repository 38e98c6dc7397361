// Completions of the command line for shells, written from the tree of commands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replicator/cli/command_tree.h"

namespace lockstep {

/// The script for "bash", "zsh" or "fish". None: there is none for this shell.
std::optional<std::string> completion(const CommandNode& program, std::string_view shell);

}  // namespace lockstep
