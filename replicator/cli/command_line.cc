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
#include "replicator/cli/usage_text.h"
#include "replicator/cli/verb.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/error.h"
#include "replicator/error_class.h"
#include "replicator/log/log.h"
#include "replicator/source/open_source.h"
#include "replicator/wrong_configuration.h"

namespace lockstep {
namespace {

// Former names of commands. They still work, but no help shows them.
constexpr std::array<std::pair<std::string_view, const char*>, 1> kFormerNames{{
    {"deadletters", "dead-letters"},
}};

// "-c FILE" as one or two arguments; 0: there is none at `at`.
std::size_t length_of_config_option(const std::vector<std::string>& arguments, std::size_t at) {
  const std::string& argument = arguments[at];
  if (argument == "-c" || argument == "--config") return 2;
  return argument.starts_with("--config=") || (argument.starts_with("-c") && argument.size() > 2) ? 1 : 0;
}

// "-c FILE VERB" as "VERB -c FILE". Without a verb nothing is left.
void put_config_behind_verb(std::vector<std::string>& arguments) {
  std::size_t verb = 0;
  while (verb < arguments.size()) {
    const std::size_t length = length_of_config_option(arguments, verb);
    if (length == 0) break;
    verb += length;
  }
  if (verb >= arguments.size()) return arguments.clear();
  std::rotate(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(verb),
              arguments.begin() + static_cast<std::ptrdiff_t>(verb) + 1);
}

// "init --with a, b" as "init --with a,b".
void join_lists(std::vector<std::string>& arguments) {
  if (arguments.front() != "init") return;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i - 1] != "--with") continue;
    while (i + 1 < arguments.size() && arguments[i].ends_with(',') && !arguments[i + 1].starts_with('-')) {
      arguments[i] += arguments[i + 1];
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
}

// The arguments as the parser knows them: a command's present name instead of a former one, "help VERB" as
// "VERB --help".
std::vector<std::string> usual_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  put_config_behind_verb(arguments);
  if (arguments.empty()) return arguments;
  join_lists(arguments);
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    if (!arguments.empty() && arguments.front() == "help") arguments.clear();
    arguments.emplace_back("--help");
    put_config_behind_verb(arguments);
  }
  std::string& first = arguments.front();
  for (const auto& [former, present] : kFormerNames) {
    if (first == former) first = present;
  }
  if (first == "version" || first == "-v" || first == "-V") first = "--version";
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

// Before the log goes to its configured place, only the journal receives log lines.
void report(Audience audience, const std::string& message) {
  if (audience == Audience::kJournal && is_log_configured()) {
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

// Options that print texts made from the tree of commands, and end the parsing, as --help does.
void add_texts_about_itself(CLI::App& app) {
  app.add_option_function<std::string>(
         "--completion",
         [&app](const std::string& shell) {
           std::optional<std::string> script = completion(tree_of(app), shell);
           if (!script)
             throw CLI::ValidationError("--completion",
                                        "there is none for \"" + shell + "\", but for bash, zsh and fish");
           script->pop_back();  // the printing code adds a line feed
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

// Throws if a part of the output is lost, e.g. on a full disk.
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
    report(Audience::kPerson, error.what());
    return code(ExitCode::kFailed);
  }
}

int run_verb(Verb& verb) {
  const Audience audience = verb.audience();
  try {
    start_logging(audience == Audience::kJournal ? LogFormat::kBeforeConfiguration : LogFormat::kText,
                  "info");
    const int result = code(verb.run());
    require_written_output();
    return result;
  } catch (const UsageError& error) {
    const LogField error_field("error", "configuration");
    report(audience, error.what());
    return code(ExitCode::kUsage);
  } catch (const Error& error) {
    const LogField error_field("error", std::string(class_of(error)));
    report(audience, error.what());
    const bool is_wrong_configuration = dynamic_cast<const WrongConfiguration*>(&error) != nullptr;
    return code(is_wrong_configuration ? ExitCode::kUsage : ExitCode::kFailed);
  } catch (const std::exception& error) {
    const LogField error_field("error", "failed");
    report(audience, error.what());
    return code(ExitCode::kFailed);
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const BuildInfo& build) {
  CLI::App app("Keeps Elasticsearch in step with a relational database.", "lockstep");
  app.set_version_flag("--version", version_text(build),
                       "Print the version, the commit that it was built from, and the libraries");
  add_texts_about_itself(app);
  app.require_subcommand(1);
  app.formatter(help_format());
  app.footer(
      "Every command has its own --help, with an example. -c FILE may stand in front of the command, too.\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 a difference was found, 4 another "
      "process held the lock.");
  Verb* chosen = nullptr;
  const std::vector<VerbGroup> groups = verb_groups();
  for (const VerbGroup& group : groups) {
    for (const auto& verb : group.verbs) {
      CLI::App* command = app.add_subcommand(verb->name(), verb->summary());
      command->group(group.name);
      command->footer(example_text(verb->example()));
      command->callback([&chosen, each = verb.get()] { chosen = each; });
      verb->add_options(Options(*command));
    }
  }
  if (argc < 2) {
    std::cerr << app.help();
    return code(ExitCode::kUsage);
  }
  const std::vector<std::string> arguments = usual_arguments(argc, argv);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& request) {  // --help, --version
    if (const auto fault = unknown_command_fault(app, arguments)) {
      report(Audience::kPerson, *fault);
      return code(ExitCode::kUsage);
    }
    return print(app, request);
  } catch (const CLI::ParseError& error) {
    report(Audience::kPerson, usage_fault(app, arguments, error));
    return code(ExitCode::kUsage);
  }
  return run_verb(*chosen);
}

}  // namespace lockstep
