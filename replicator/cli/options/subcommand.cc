#include "replicator/cli/options/subcommand.h"

#include <CLI/CLI.hpp>

namespace lockstep {

CLI::App& add_subcommand(CLI::App& app, const char* name, const char* summary, const std::string& example,
                         const std::function<void()>& chosen) {
  app.require_subcommand(0, 1);
  CLI::App& command = *app.add_subcommand(name, summary);
  command.fallthrough();
  command.group("Commands");
  command.footer("Example:\n  " + example);
  command.callback(chosen);
  return command;
}

UsageError missing_subcommand(const std::string& command, const std::string& names) {
  return UsageError(command + ": name a command: " + names + "; see --help");
}

}  // namespace lockstep
