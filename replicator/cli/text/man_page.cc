#include "replicator/cli/text/man_page.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lockstep {
namespace {

// Text that roff prints as it stands. A "-" that is no hyphen has to be escaped to be found by searches.
std::string escaped(std::string_view text) {
  std::string roff;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) roff += "\\&";
    if (c == '\\')
      roff += "\\e";
    else if (c == '-')
      roff += "\\-";
    else
      roff += c;
    line_begins = c == '\n';
  }
  return roff;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string upper(std::string_view text) {
  std::string result;
  for (const unsigned char c : text) result += static_cast<char>(std::toupper(c));
  return result;
}

std::string sentence(const std::string& text) {
  return text.empty() || text.back() == '.' ? text : text + ".";
}

std::string synopsis(const std::string& words, const CommandNode& command) {
  std::string line = bold(words) + " [" + italic("OPTIONS") + "]";
  if (!command.commands.empty()) line += " " + italic("COMMAND");
  for (const ArgumentNode& argument : command.arguments) {
    const std::string name = italic(argument.name);
    switch (argument.count) {
      case ArgumentNode::Count::kOne:
        line += " " + name;
        break;
      case ArgumentNode::Count::kOneAtMost:
        line += " [" + name + "]";
        break;
      case ArgumentNode::Count::kSeveral:
        line += " [" + name + "...]";
        break;
    }
  }
  return line + "\n";
}

std::string described(const OptionNode& option) {
  std::string text = ".TP\n";
  for (const std::string& name : option.names)
    text += (&name == &option.names.front() ? "" : ", ") + bold(name);
  if (!option.value.empty()) text += " " + italic(option.value);
  text += "\n" + escaped(sentence(option.summary));
  if (!option.environment.empty())
    text += " Without it the environment variable " + bold(option.environment) + " counts.";
  if (!option.fallback.empty()) text += " Default: " + escaped(sentence(option.fallback));
  return text + "\n";
}

std::string options_and_arguments(const CommandNode& command) {
  std::string text;
  for (const ArgumentNode& argument : command.arguments)
    text += ".TP\n" + italic(argument.name) + "\n" + escaped(sentence(argument.summary)) + "\n";
  for (const OptionNode& option : command.options) text += described(option);
  return text;
}

// The footer of a command is "Example:\n  lockstep …".
std::string examples(const CommandNode& command) {
  constexpr std::string_view kHeading = "Example:\n";
  if (!command.footer.starts_with(kHeading)) return "";
  return ".nf\n" + escaped(std::string_view(command.footer).substr(kHeading.size())) + "\n.fi\n";
}

std::string head(const std::string& name, const std::string& summary, const std::string& version) {
  return ".TH " + upper(name) + " 1 \"\" \"lockstep " + version + "\" \"Lockstep\"\n.SH NAME\n" +
         escaped(name) + " \\- " + escaped(summary) + "\n.SH SYNOPSIS\n";
}

constexpr std::string_view kEnd =
    ".SH EXIT STATUS\n"
    ".TP\n0\nDone.\n"
    ".TP\n1\nSomething failed that should have worked.\n"
    ".TP\n2\nWrong usage or configuration.\n"
    ".TP\n3\nA difference was found.\n"
    ".TP\n4\nAnother process held a lock for too long.\n"
    ".SH FILES\n"
    ".TP\n\\fI./lockstep.toml\\fR, \\fI/etc/lockstep/lockstep.toml\\fR\nThe configuration: the first that "
    "exists, unless \\fB\\-\\-config\\fR or the "
    "environment "
    "variable \\fBLOCKSTEP_CONFIG\\fR names another.\n"
    ".TP\n\\fI/usr/share/doc/lockstep\\fR\nThe documentation and examples.\n";

std::string page_of(const std::string& program, const CommandNode& command, const std::string& version) {
  const std::string words = program + " " + command.name;
  std::string text = head(program + "-" + command.name, command.summary, version);
  text += synopsis(words, command);
  for (const CommandNode& below : command.commands)
    text += ".br\n" + synopsis(words + " " + below.name, below);
  text += ".SH OPTIONS\n" + options_and_arguments(command);
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const CommandNode& below : command.commands) {
    text += ".SS " + escaped(below.name) + "\n" + escaped(sentence(below.summary)) + "\n" +
            options_and_arguments(below);
    if (const std::string lines = examples(below); !lines.empty()) text += ".PP\n" + lines;
  }
  if (const std::string lines = examples(command); !lines.empty()) text += ".SH EXAMPLES\n" + lines;
  return text + std::string(kEnd) + ".SH SEE ALSO\n" + bold(program) + "(1)\n";
}

std::string page_of_program(const CommandNode& program, const std::string& version) {
  std::string summary = program.summary;
  if (summary.ends_with('.')) summary.pop_back();
  std::string text =
      head(program.name, summary, version) + synopsis(program.name, program) + ".SH COMMANDS\n";
  for (const CommandNode& command : program.commands) {
    text += ".TP\n" + bold(program.name + "-" + command.name) + "(1)\n" + escaped(sentence(command.summary)) +
            "\n";
  }
  return text + ".SH OPTIONS\n" + options_and_arguments(program) + std::string(kEnd);
}

}  // namespace

std::vector<ManPage> man_pages(const CommandNode& program, const std::string& version) {
  std::vector<ManPage> pages{{program.name + ".1", page_of_program(program, version)}};
  for (const CommandNode& command : program.commands)
    pages.push_back({program.name + "-" + command.name + ".1", page_of(program.name, command, version)});
  return pages;
}

}  // namespace lockstep
