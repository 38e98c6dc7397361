// The command line in our words instead of its library's: the form of --help, and messages for unreadable
// arguments.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class FormatterBase;
class ParseError;
}  // namespace CLI

namespace lockstep {

/// The form of --help. The same in every run: the library itself lists excluded options by their addresses.
std::shared_ptr<CLI::FormatterBase> help_format();

/// Why `app` could not parse the arguments behind the program's name, with a remedy: "unknown option --wiht;
/// did you mean --with?; see lockstep init --help".
std::string usage_fault(const CLI::App& app, const std::vector<std::string>& arguments,
                        const CLI::ParseError& error);

/// The same of an unknown command; none: there is none. The parser itself would print help all the same. A
/// command stands in front of its options.
std::optional<std::string> unknown_command_fault(const CLI::App& app,
                                                 const std::vector<std::string>& arguments);

}  // namespace lockstep
