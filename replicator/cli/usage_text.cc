#include "replicator/cli/usage_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "replicator/nearest_name.h"

namespace lockstep {
namespace {

// Names of commands in other programs, and the command lines for them here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNamesElsewhere{{
    {"delete", "remove"},
    {"destroy", "remove"},
    {"diff", "verify"},
    {"repair", "verify --repair"},
    {"rm", "remove"},
    {"serve", "run"},
    {"start", "run"},
    {"validate", "check"},
    {"watch", "status --watch"},
}};

// Options of other programs: the command, the option, the command line for it here.
struct OptionElsewhere {
  std::string_view command;
  std::string_view option;
  std::string_view here;
};
constexpr std::array<OptionElsewhere, 5> kOptionsElsewhere{{
    {"apply", "--dry-run", "lockstep plan"},
    {"up", "--dry-run", "lockstep plan"},
    {"verify", "--fix", "--repair"},
    {"status", "-w", "--watch"},
    {"status", "-f", "--watch"},
}};

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return CLI::detail::join(names, ", ");
}

// A flag takes none.
bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() {
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->nonpositional() && takes_value(*option)) {
      text += " " + option->get_type_name();
      if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    }
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    if (option->get_required()) text += " (required)";
    if (!option->get_envname().empty()) text += " (or $" + option->get_envname() + ")";
    if (!option->get_needs().empty()) text += " (only with " + names_of(option->get_needs()) + ")";
    if (!option->get_excludes().empty()) text += " (not with " + names_of(option->get_excludes()) + ")";
    return text;
  }
};

using Commands = std::vector<const CLI::App*>;
using Arguments = std::vector<std::string>;

Commands commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

const CLI::App* command_called(const CLI::App& app, std::string_view name) {
  for (const CLI::App* command : commands_of(app)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

// "-c", "--config"; of "--config=FILE" and "-cFILE", too. Null if no command on the way has it.
const CLI::Option* option_called(const Commands& commands, std::string_view argument) {
  const bool is_long = argument.starts_with("--");
  const std::string_view name = is_long ? argument.substr(2, argument.find('=') - 2) : argument.substr(1, 1);
  for (const CLI::App* command : commands) {
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string>& known = is_long ? option->get_lnames() : option->get_snames();
      if (std::find(known.begin(), known.end(), name) != known.end()) return option;
    }
  }
  return nullptr;
}

bool has_value_behind(const CLI::Option& option, std::string_view argument) {
  const bool is_attached =
      argument.starts_with("--") ? argument.find('=') != std::string_view::npos : argument.size() > 2;
  return takes_value(option) && !is_attached;
}

// The names in the arguments, from the program itself to the last: lockstep, tree, mv.
struct Named {
  Commands commands;
  std::optional<std::string> unknown = {};  // in the place of a command
};

Named named_in(const CLI::App& app, const Arguments& arguments) {
  Named named{{&app}};
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i].starts_with('-')) {
      const CLI::Option* option = option_called(named.commands, arguments[i]);
      if (option != nullptr && has_value_behind(*option, arguments[i])) ++i;
      continue;
    }
    if (commands_of(*named.commands.back()).empty()) break;
    const CLI::App* command = command_called(*named.commands.back(), arguments[i]);
    if (command == nullptr) {
      named.unknown = arguments[i];
      break;
    }
    named.commands.push_back(command);
  }
  return named;
}

std::string path_of(const Commands& commands) {
  std::string path;
  for (const CLI::App* command : commands) path += (path.empty() ? "" : " ") + command->get_name();
  return path;
}

std::string suggestion(const std::optional<std::string_view>& nearest, const std::string& quote) {
  return nearest ? "; did you mean " + quote + std::string(*nearest) + quote + "?" : "";
}

std::optional<std::string> unknown_command(const Named& named) {
  const bool is_program = named.commands.size() == 1;
  if (!named.unknown) return std::nullopt;
  const std::string& name = *named.unknown;
  if (is_program && (name == "logs" || name == "log"))
    return "unknown command \"" + name + "\"; the service's log is in the journal: journalctl -u lockstep";
  if (is_program && (name == "stop" || name == "restart"))
    return "unknown command \"" + name + "\"; systemd runs the service: systemctl " + name + " lockstep";
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(*named.commands.back())) names.push_back(command->get_name());
  std::optional<std::string_view> nearest = nearest_name(name, {names.begin(), names.end()});
  for (const auto& [elsewhere, here] : kNamesElsewhere) {
    if (is_program && name == elsewhere) nearest = here;
  }
  return "unknown command \"" + name + "\"" + suggestion(nearest, "\"");
}

std::optional<std::string> unknown_option(const Commands& named, const Arguments& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with('-') || argument == "-" || option_called(named, argument) != nullptr) continue;
    const std::string name =
        argument.starts_with("--") ? argument.substr(0, argument.find('=')) : argument.substr(0, 2);
    for (const OptionElsewhere& each : kOptionsElsewhere) {
      if (named.back()->get_name() == each.command && name == each.option)
        return "unknown option " + name + suggestion(each.here, each.here.starts_with('-') ? "" : "`");
    }
    if (!argument.starts_with("--")) return "unknown option " + name;
    std::vector<std::string> known;
    for (const CLI::App* command : named) {
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& each : option->get_lnames()) known.push_back("--" + each);
      }
    }
    return "unknown option " + name + suggestion(nearest_name(name, {known.begin(), known.end()}), "");
  }
  return std::nullopt;
}

// An option at the end that lacks its value; a flag that has one.
std::optional<std::string> misfit_value(const Commands& named, const Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with('-') || argument == "-") continue;
    const CLI::Option* option = option_called(named, argument);
    if (option == nullptr) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (!takes_value(*option) && name != argument) return name + " takes no value";
    if (!has_value_behind(*option, argument) || option->get_expected_min() == 0) continue;
    if (i + 1 == arguments.size()) return name + " needs a value: " + name + " " + option->get_type_name();
  }
  return std::nullopt;
}

std::optional<std::string> repeated(const Commands& named) {
  for (const CLI::App* command : named) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() == 1 && option->count() > 1)
        return option->get_name() + " may be given once";
    }
  }
  return std::nullopt;
}

std::optional<std::string> missing(const Commands& named) {
  std::string names;
  for (const CLI::App* command : named) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_required() && option->count() == 0)
        names += (names.empty() ? "" : ", ") + option->get_name();
    }
  }
  return names.empty() ? std::nullopt : std::optional(names + " is missing");
}

std::optional<std::string> excluded(const Commands& named) {
  for (const CLI::App* command : named) {
    std::vector<const CLI::Option*> given;
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() == 0) continue;
      const std::set<CLI::Option*> excludes = option->get_excludes();
      for (const CLI::Option* before : given) {
        if (std::find(excludes.begin(), excludes.end(), before) != excludes.end())
          return before->get_name() + " excludes " + option->get_name();
      }
      given.push_back(option);
    }
  }
  return std::nullopt;
}

// The arguments that no command takes.
std::optional<std::string> surplus(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  if (left.empty()) return std::nullopt;
  std::string quoted;
  for (const std::string& each : left) quoted += (quoted.empty() ? "\"" : ", \"") + each + "\"";
  return quoted + (left.size() == 1 ? " is an argument too many" : " are arguments too many");
}

std::string with_help(const std::string& fault, const Named& named) {
  return fault + "; see " + path_of(named.commands) + " --help";
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_format() {
  return std::make_shared<HelpFormat>();
}

std::string usage_fault(const CLI::App& app, const std::vector<std::string>& arguments,
                        const CLI::ParseError& error) {
  // Thrown by our own code, with words of ours.
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr ||
      dynamic_cast<const CLI::FileError*>(&error) != nullptr)
    return error.what();
  const Named named = named_in(app, arguments);
  const bool is_program = named.commands.size() == 1;
  std::optional<std::string> fault = unknown_command(named);
  if (!fault && (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr ||
                 dynamic_cast<const CLI::ConversionError*>(&error) != nullptr))
    fault = misfit_value(named.commands, arguments);
  if (!fault) fault = unknown_option(named.commands, arguments);
  if (!fault) fault = repeated(named.commands);
  if (!fault) fault = excluded(named.commands);
  if (!fault) fault = surplus(app);
  if (!fault) fault = missing(named.commands);
  if (!fault && is_program) fault = "there is no command";
  return with_help(fault.value_or(error.what()), named);
}

std::optional<std::string> unknown_command_fault(const CLI::App& app,
                                                 const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return std::nullopt;
  const Named named = named_in(app, arguments);
  const std::optional<std::string> fault = unknown_command(named);
  return fault ? std::optional(with_help(*fault, named)) : std::nullopt;
}

}  // namespace lockstep
