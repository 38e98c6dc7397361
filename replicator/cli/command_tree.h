// The commands, their options and arguments as plain data: the source of man pages and completions, so that
// they agree with --help.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace lockstep {

struct OptionNode {
  std::vector<std::string> names;  ///< "-c", "--config"
  std::string value;               ///< its value's name in --help: "FILE"; empty: a flag
  std::string summary;
  std::string environment;  ///< the variable that is read without it; may be empty
  std::string fallback;     ///< the default that --help shows; may be empty
};

struct ArgumentNode {
  std::string name;
  std::string summary;
  enum class Count { kOne, kOneAtMost, kSeveral };
  Count count = Count::kOne;
};

struct CommandNode {
  std::string name;
  std::string summary;
  std::string footer;  ///< the end of --help
  std::vector<OptionNode> options = {};
  std::vector<ArgumentNode> arguments = {};
  std::vector<CommandNode> commands = {};
};

CommandNode tree_of(const CLI::App& app);

}  // namespace lockstep
