// Commands below a command: `lockstep tree mv`.
#pragma once

#include <functional>
#include <string>

#include "replicator/error.h"

namespace CLI {
class App;
}

namespace lockstep {

/// Adds a command below `app`. Options of `app` may stand behind its name, too. `example` is a command line
/// for --help. `chosen` is called when the command line names it.
CLI::App& add_subcommand(CLI::App& app, const char* name, const char* summary, const std::string& example,
                         const std::function<void()>& chosen);

/// Says that a command line names none of the commands below `command`. `names` are those: "list or show".
UsageError missing_subcommand(const std::string& command, const std::string& names);

}  // namespace lockstep
