// Man pages (section 1), written from the tree of commands: one for the program and one for each command,
// with the commands below it.
#pragma once

#include <string>
#include <vector>

#include "replicator/cli/command_tree.h"

namespace lockstep {

struct ManPage {
  std::string name;  ///< of the file: "lockstep-run.1"
  std::string text;  ///< roff
};

std::vector<ManPage> man_pages(const CommandNode& program, const std::string& version);

}  // namespace lockstep
