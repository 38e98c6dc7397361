#include "replicator/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "replicator/cli/command_tree.h"
#include "replicator/cli/text/completion.h"
#include "replicator/cli/text/man_page.h"
#include "replicator/cli/verb.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/error.h"
#include "replicator/error_class.h"
#include "replicator/log/log.h"
#include "replicator/nearest_name.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

// Former names of commands. They still work, but no help shows them.
constexpr std::array<std::pair<std::string_view, const char*>, 1> kFormerNames{{
    {"deadletters", "dead-letters"},
}};

// What other programs call a command.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNamesElsewhere{{
    {"delete", "remove"},
    {"destroy", "remove"},
    {"diff", "verify"},
    {"rm", "remove"},
    {"serve", "run"},
    {"start", "run"},
    {"validate", "check"},
}};

// The arguments with a command's present name instead of a former one, and "help VERB" as "VERB --help".
// REQUIRES: there is an argument.
std::vector<const char*> usual_arguments(int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  const std::string_view first = argv[1];
  for (const auto& [former, present] : kFormerNames) {
    if (first == former) arguments[1] = present;
  }
  if (first == "version" || first == "-v" || first == "-V") arguments[1] = "--version";
  if (first == "help") {
    arguments.erase(arguments.begin() + 1);
    arguments.push_back("--help");
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
  if (name == "logs" || name == "log")
    return message + "; the service's log is in the journal: journalctl -u lockstep";
  std::optional<std::string_view> nearest = nearest_name(name, names);
  for (const auto& [elsewhere, here] : kNamesElsewhere) {
    if (name == elsewhere) nearest = here;
  }
  if (nearest) message += "; did you mean \"" + std::string(*nearest) + "\"?";
  return message + "; see lockstep --help";
}

// The message for the first option that its command does not have; empty if there is none.
std::string unknown_option(CLI::App& app, const std::vector<const char*>& arguments) {
  CLI::App* command = &app;
  std::string path = "lockstep";
  bool is_command = true;  // whether an argument may still name one
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") break;
    if (!argument.starts_with("--")) {
      const auto inner =
          command->get_subcommands([&](const CLI::App* each) { return each->get_name() == argument; });
      is_command = is_command && !inner.empty();
      if (is_command) {
        command = inner.front();
        path += " " + std::string(argument);
      }
      continue;
    }
    const std::string_view name = argument.substr(0, argument.find('='));
    std::vector<std::string> known;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& each : option->get_lnames()) known.push_back("--" + each);
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string message = "unknown option " + std::string(name);
    if (const auto nearest = nearest_name(name, {known.begin(), known.end()}))
      message += "; did you mean " + std::string(*nearest) + "?";
    return message + "; see " + path + " --help";
  }
  return "";
}

void tell(Audience audience, const std::string& message) {
  if (audience == Audience::kJournal) {
    log_last_words(message);
  } else {
    std::cerr << "lockstep: " << message << '\n';
  }
}

std::string version_text(const BuildInfo& build) {
  std::string text = std::string("lockstep ") + LOCKSTEP_VERSION;
  if (!build.commit.empty()) text += " (commit " + build.commit + ")";
  text += "\nwith " + transport_libraries() + ", " + source_libraries();
  if (!build.libraries.empty()) text += "\nbuilt with " + build.libraries;
  return text;
}

void write_man_pages(const CommandNode& program, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw CLI::FileError("cannot make the folder " + folder.string() + ": " + error.message());
  for (const ManPage& page : man_pages(program, LOCKSTEP_VERSION)) {
    std::ofstream file(folder / page.name);
    file << page.text;
    if (!file.flush()) throw CLI::FileError("cannot write " + (folder / page.name).string());
  }
}

// Options that print what is made from the tree of commands, and end the parsing, as --help does.
void add_texts_about_itself(CLI::App& app) {
  app.add_option_function<std::string>(
         "--completion",
         [&app](const std::string& shell) {
           std::optional<std::string> script = completion(tree_of(app), shell);
           if (!script)
             throw CLI::ValidationError("--completion",
                                        "there is none for \"" + shell + "\", but for bash, zsh and fish");
           script->pop_back();  // whoever prints it adds a line feed
           throw CLI::CallForVersion(*script, 0);
         },
         "Print the completions of the command line for a shell: bash, zsh or fish")
      ->type_name("SHELL")
      ->trigger_on_parse();
  app.add_option_function<std::string>(
         "--man-pages",
         [&app](const std::string& folder) {
           write_man_pages(tree_of(app), folder);
           throw CLI::CallForVersion("man pages are in " + folder, 0);
         },
         "Write the man pages into a folder")
      ->type_name("DIR")
      ->trigger_on_parse();
}

// Throws when a part of the output is lost, e.g. on a full disk.
void require_written_output() {
  std::cout.flush();
  if (!std::cout) throw Error({"writing the output", "standard output does not take it"});
}

int print(const CLI::App& app, const CLI::Success& request) {
  const int result = app.exit(request);
  try {
    require_written_output();
    return result;
  } catch (const Error& error) {
    tell(Audience::kPerson, error.what());
    return code(ExitCode::kFailed);
  }
}

int run_verb(Verb& verb) {
  const Audience audience = verb.audience();
  try {
    start_logging(audience == Audience::kJournal ? LogFormat::kAuto : LogFormat::kText, "info");
    const int result = code(verb.run());
    require_written_output();
    return result;
  } catch (const UsageError& error) {
    const LogField error_field("error", "configuration");
    tell(audience, error.what());
    return code(ExitCode::kUsage);
  } catch (const Error& error) {
    const LogField error_field("error", std::string(class_of(error)));
    tell(audience, error.what());
    return code(ExitCode::kFailed);
  } catch (const std::exception& error) {
    const LogField error_field("error", "failed");
    tell(audience, error.what());
    return code(ExitCode::kFailed);
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const BuildInfo& build) {
  const std::vector<std::unique_ptr<Verb>> verbs = all_verbs();
  CLI::App app("Keeps Elasticsearch in step with a relational database.", "lockstep");
  app.set_version_flag("--version", version_text(build),
                       "Print the version, the commit that it was built from, and the libraries");
  add_texts_about_itself(app);
  app.require_subcommand(1);
  for (const auto& [theirs, ours] : {std::pair("SUBCOMMAND", "COMMAND"),
                                     {"Positionals", "Arguments"},
                                     {"REQUIRED", "(required)"},
                                     {"Excludes", "not with"},
                                     {"Needs", "only with"}})
    app.get_formatter()->label(theirs, ours);
  app.footer(
      "Every command has its own --help, with an example.\nExit codes: 0 done, 1 failed, 2 wrong usage or "
      "configuration, 3 a difference was found, 4 another process held the lock.");
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
  const std::vector<const char*> arguments = usual_arguments(argc, argv);
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success& request) {  // --help, --version
    return print(app, request);
  } catch (const CLI::ParseError& error) {
    std::string unknown = unknown_command(arguments[1], verbs);
    if (unknown.empty()) unknown = unknown_option(app, arguments);
    tell(Audience::kPerson, unknown.empty() ? std::string(error.what()) + "; see --help" : unknown);
    return code(ExitCode::kUsage);
  }
  return run_verb(*chosen);
}

}  // namespace lockstep
