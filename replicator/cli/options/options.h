// The parts of a command line: options, flags, arguments, and the commands below a command. Only options.cc
// and command_line.cc read the headers of the library that parses it (CLI11): they take seconds to compile.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replicator/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lockstep {

/// An option, a flag or an argument of a command. A handle: copies mean the same one.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// The value's name in --help: "FILE".
  Option& value_name(const char* name);
  /// Without it on the command line this environment variable is read.
  Option& or_environment(const char* variable);
  /// --help shows the value that it has now.
  Option& show_default();
  Option& show_default(const std::string& text);
  Option& required();
  /// Both on one command line are an error.
  Option& excludes(const Option& other);
  /// Arguments that look like an option are none of its values, unless written --option=VALUE. Without a
  /// value it has an empty one.
  Option& never_takes_options();
  /// Takes one value each time it is named, so that arguments may follow it.
  Option& one_value_each();

 private:
  CLI::Option* option_;
};

/// The options of a command. A handle: copies mean the same command.
///
/// `names` are "-y,--yes" for an option and "PATH" for an argument. The values are written when the command
/// line is parsed; they have to outlive that.
class Options {
 public:
  explicit Options(CLI::App& command) : command_(&command) {}

  Option flag(const std::string& names, bool& value, const std::string& description);
  Option option(const std::string& names, std::string& value, const std::string& description);
  Option option(const std::string& names, std::optional<std::string>& value, const std::string& description);
  Option option(const std::string& names, std::vector<std::string>& values, const std::string& description);

  /// Adds a command below this one: `lockstep tree mv`. Options of this one may stand behind its name, too.
  /// `example` is a command line for --help. `chosen` is called when the command line names it.
  Options command(const char* name, const char* summary, const std::string& example,
                  const std::function<void()>& chosen);

  /// Everything behind the first argument is an argument, even if it looks like an option.
  void end_at_first_argument();

 private:
  CLI::App* command_;
};

/// The error for a command line that names none of the commands below `command`. `names` are those: "list or
/// show".
UsageError missing_subcommand(const std::string& command, const std::string& names);

}  // namespace lockstep
