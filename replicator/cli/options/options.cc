#include "replicator/cli/options/options.h"

#include <CLI/CLI.hpp>

namespace lockstep {

Option& Option::value_name(const char* name) {
  option_->type_name(name);
  return *this;
}

Option& Option::or_environment(const char* variable) {
  option_->envname(variable);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::show_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::never_takes_options() {
  option_->expected(0, -1);
  return *this;
}

Option& Option::one_value_each() {
  option_->allow_extra_args(false);
  return *this;
}

Option Options::flag(const std::string& names, bool& value, const std::string& description) {
  return Option(*command_->add_flag(names, value, description));
}

Option Options::option(const std::string& names, std::string& value, const std::string& description) {
  return Option(*command_->add_option(names, value, description));
}

Option Options::option(const std::string& names, std::optional<std::string>& value,
                       const std::string& description) {
  return Option(*command_->add_option(names, value, description));
}

Option Options::option(const std::string& names, std::vector<std::string>& values,
                       const std::string& description) {
  return Option(*command_->add_option(names, values, description));
}

Options Options::command(const char* name, const char* summary, const std::string& example,
                         const std::function<void()>& chosen) {
  command_->require_subcommand(0, 1);
  CLI::App& command = *command_->add_subcommand(name, summary);
  command.fallthrough();
  command.group("Commands");
  command.footer("Example:\n  " + example);
  command.callback(chosen);
  return Options(command);
}

void Options::end_at_first_argument() {
  command_->positionals_at_end();
}

UsageError missing_subcommand(const std::string& command, const std::string& names) {
  return UsageError(command + ": name a command: " + names + "; see --help");
}

}  // namespace lockstep
