// The command line in our words instead of its library's: the form of --help, and messages for what cannot be
// parsed.
#pragma once

#include <memory>
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

}  // namespace lockstep
