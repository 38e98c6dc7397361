#include "replicator/cli/command_line.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <array>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/cli/verb.h"
#include "replicator/config/nearest_name.h"
#include "replicator/error.h"
#include "replicator/log.h"

namespace lockstep {
namespace {

// Former names of commands. They still work, but no help shows them.
constexpr std::array<std::pair<std::string_view, const char*>, 1> kFormerNames{{
    {"deadletters", "dead-letters"},
}};

// The arguments with a command's present name instead of a former one.
std::vector<const char*> with_present_name(int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  for (const auto& [former, present] : kFormerNames) {
    if (argc > 1 && argv[1] == former) arguments[1] = present;
  }
  return arguments;
}

constexpr int code(ExitCode exit_code) {
  return static_cast<int>(exit_code);
}

// "Example:\n  lockstep …", with every line of the example indented.
std::string example_text(std::string_view example) {
  std::string text = "Example:\n  ";
  for (const char c : example) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

// The message for a first argument that is no command; empty if it is one, or an option.
std::string unknown_command(std::string_view name, const std::vector<std::unique_ptr<Verb>>& verbs) {
  if (name.starts_with('-')) return "";
  std::vector<std::string_view> names;
  for (const auto& verb : verbs) {
    if (verb->name() == name) return "";
    names.emplace_back(verb->name());
  }
  std::string message = "unknown command \"" + std::string(name) + "\"";
  if (const auto nearest = nearest_name(name, names))
    message += "; did you mean \"" + std::string(*nearest) + "\"?";
  return message + "; see lockstep --help";
}

void tell(Audience audience, const std::string& message) {
  if (audience == Audience::kJournal) {
    spdlog::error(message);
  } else {
    std::cerr << "lockstep: " << message << '\n';
  }
}

int run_verb(Verb& verb) {
  const Audience audience = verb.audience();
  try {
    start_logging(audience == Audience::kJournal ? LogFormat::kAuto : LogFormat::kText, "info");
    const int result = code(verb.run());
    std::cout.flush();
    return result;
  } catch (const UsageError& error) {
    tell(audience, error.what());
    return code(ExitCode::kUsage);
  } catch (const std::exception& error) {
    tell(audience, error.what());
    return code(ExitCode::kFailed);
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  const std::vector<std::unique_ptr<Verb>> verbs = all_verbs();
  CLI::App app("Keeps Elasticsearch in step with a relational database.", "lockstep");
  app.set_version_flag("--version", std::string("lockstep ") + LOCKSTEP_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.footer(
      "Every command has its own --help, with an example.\nExit codes: 0 done, 1 failed, 2 wrong usage or "
      "configuration, 3 a difference was found, 4 somebody else held a lock.");
  Verb* chosen = nullptr;
  for (const auto& verb : verbs) {
    CLI::App* command = app.add_subcommand(verb->name(), verb->summary());
    command->group("Commands");
    command->footer(example_text(verb->example()));
    command->callback([&chosen, each = verb.get()] { chosen = each; });
    verb->add_options(Options(*command));
  }
  if (argc < 2) {
    std::cerr << app.help();
    return code(ExitCode::kUsage);
  }
  const std::vector<const char*> arguments = with_present_name(argc, argv);
  try {
    app.parse(argc, arguments.data());
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_command(arguments[1], verbs);
    tell(Audience::kPerson, unknown.empty() ? std::string(error.what()) + "; see --help" : unknown);
    return code(ExitCode::kUsage);
  }
  return run_verb(*chosen);
}

}  // namespace lockstep
