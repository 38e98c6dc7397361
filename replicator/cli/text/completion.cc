#include "replicator/cli/text/completion.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace lockstep {
namespace {

bool names_a_file(const std::string& value) {
  return value == "FILE" || value == "DIR";
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// In single quotes, for each of the shells.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

// Each command, with the words that lead to it: "", "tree", "tree mv". From the outside in.
using Visit = std::function<void(const std::string& words, const CommandNode& command)>;
void each_command(const CommandNode& command, const Visit& visit, const std::string& words = "") {
  visit(words, command);
  for (const CommandNode& below : command.commands)
    each_command(below, visit, words.empty() ? below.name : words + " " + below.name);
}

std::vector<std::string> words_of(const CommandNode& command) {
  std::vector<std::string> words;
  for (const CommandNode& below : command.commands) words.push_back(below.name);
  for (const OptionNode& option : command.options)
    words.insert(words.end(), option.names.begin(), option.names.end());
  return words;
}

// The names of options whose value is a file, and of those with another value.
std::vector<std::string> options_with_value(const CommandNode& program, bool file) {
  std::vector<std::string> names;
  each_command(program, [&](const std::string&, const CommandNode& command) {
    for (const OptionNode& option : command.options) {
      if (option.value.empty() || names_a_file(option.value) != file) continue;
      for (const std::string& name : option.names) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
  });
  return names;
}

std::string bash(const CommandNode& program) {
  std::string leads, offers;
  each_command(program, [&](const std::string& words, const CommandNode& command) {
    if (!words.empty()) leads += (leads.empty() ? "" : " | ") + in_quotes(words);
    offers += "    " + in_quotes(words) + ") words=" + in_quotes(joined(words_of(command), " ")) + " ;;\n";
  });
  return "# Completes the command line of lockstep in bash. Made by `lockstep --completion bash`.\n"
         "_lockstep() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' longer "
         "words='' i\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    [[ ${COMP_WORDS[i]} != -- ]] || return 0\n"
         "    longer=${command:+$command }${COMP_WORDS[i]}\n"
         "    case $longer in\n"
         "      " +
         leads +
         ") command=$longer ;;\n"
         "    esac\n"
         "  done\n"
         "  case $previous in\n"
         "    " +
         joined(options_with_value(program, true), " | ") +
         ") return 0 ;;\n"
         "    " +
         joined(options_with_value(program, false), " | ") +
         ") compopt +o default; return 0 ;;\n"
         "  esac\n"
         "  case $command in\n" +
         offers +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _lockstep lockstep\n";
}

// A description inside of '…[…]' of _arguments.
std::string bracketed(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == '\\' || c == ':') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_function(const std::string& words) {
  std::string name = "_lockstep";
  if (!words.empty()) name += "_" + words;
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}

std::string zsh_arguments(const CommandNode& command) {
  std::string text;
  for (const OptionNode& option : command.options) {
    std::string value;
    if (!option.value.empty())
      value = ":" + bracketed(option.value) + ":" + (names_a_file(option.value) ? "_files" : "");
    const std::string all = "(" + joined(option.names, " ") + ")";
    for (const std::string& name : option.names)
      text += " \\\n    " + in_quotes(all + name + "[" + bracketed(option.summary) + "]" + value);
  }
  for (const ArgumentNode& argument : command.arguments) {
    const bool several = argument.count == ArgumentNode::Count::kSeveral;
    text += " \\\n    " + in_quotes((several ? "*:" : ":") + bracketed(argument.name) + ":_files");
  }
  return text;
}

std::string zsh(const CommandNode& program) {
  std::string text =
      "#compdef lockstep\n# Completes the command line of lockstep in zsh. Made by `lockstep --completion "
      "zsh`.\n";
  each_command(program, [&](const std::string& words, const CommandNode& command) {
    text += "\n" + zsh_function(words) + "() {\n";
    if (command.commands.empty()) {
      text += "  _arguments" + zsh_arguments(command) + "\n}\n";
      return;
    }
    text += "  local line state\n  _arguments -C" + zsh_arguments(command) +
            " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n      local -a "
            "commands=(\n";
    for (const CommandNode& below : command.commands)
      text += "        " + in_quotes(below.name + ":" + below.summary) + "\n";
    text += "      )\n      _describe command commands\n      ;;\n    rest)\n      case $line[1] in\n";
    for (const CommandNode& below : command.commands)
      text += "        " + below.name + ") " +
              zsh_function(words.empty() ? below.name : words + " " + below.name) + " ;;\n";
    text += "      esac\n      ;;\n  esac\n}\n";
  });
  return text + "\n_lockstep \"$@\"\n";
}

std::string fish(const CommandNode& program) {
  std::string text =
      "# Completes the command line of lockstep in fish. Made by `lockstep --completion fish`.\n"
      "complete -c lockstep -f\n";
  each_command(program, [&](const std::string& words, const CommandNode& command) {
    std::vector<std::string> below_names;
    for (const CommandNode& below : command.commands) below_names.push_back(below.name);
    std::string here = "__fish_use_subcommand";
    if (!words.empty()) {
      std::string seen;
      for (std::size_t begin = 0; begin <= words.size();) {
        const std::size_t end = std::min(words.find(' ', begin), words.size());
        seen += (seen.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") +
                words.substr(begin, end - begin);
        begin = end + 1;
      }
      here = seen;
    }
    const std::string not_below =
        words.empty() || below_names.empty()
            ? here
            : here + "; and not __fish_seen_subcommand_from " + joined(below_names, " ");
    for (const CommandNode& below : command.commands)
      text += "complete -c lockstep -n " + in_quotes(not_below) + " -a " + below.name + " -d " +
              in_quotes(below.summary) + "\n";
    for (const OptionNode& option : command.options) {
      text += "complete -c lockstep -n " + in_quotes(here);
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) text += names_a_file(option.value) ? " -r -F" : " -x";
      text += " -d " + in_quotes(option.summary) + "\n";
    }
    if (!command.arguments.empty()) text += "complete -c lockstep -n " + in_quotes(here) + " -F\n";
  });
  return text;
}

}  // namespace

std::optional<std::string> completion(const CommandNode& program, std::string_view shell) {
  if (shell == "bash") return bash(program);
  if (shell == "zsh") return zsh(program);
  if (shell == "fish") return fish(program);
  return std::nullopt;
}

}  // namespace lockstep
