// A pipeline file of Logstash: its plugins with their settings, and the place of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct LogstashSetting {
  std::string name;
  std::string value;                ///< of a text, a word, a number; empty for the others
  std::vector<std::string> values;  ///< of an array or a hash: its texts, keys and values in turn
  int line = 0;
};

struct LogstashPlugin {
  std::string section;  ///< "input", "filter", "output"
  std::string name;     ///< "jdbc"
  std::vector<LogstashSetting> settings;
  bool conditional = false;  ///< it stands in an if, else if or else
  int line = 0;
};

/// Throws UsageError, "<name>:<line>: <what>", for anything that Logstash would not take either.
std::vector<LogstashPlugin> read_logstash_file(std::string_view name, std::string_view text);

}  // namespace lockstep
