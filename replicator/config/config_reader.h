// Reads a TOML document into a Config by the table of keys, and notes each fault and the line of each key. It
// checks each key alone; config_rules checks combinations.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "replicator/config/config.h"
#include "replicator/config/faults.h"

namespace lockstep {

/// The line of every key and section of a file, by path: "source.url", "locks", "index.0.track.1.column".
class KeyLines {
 public:
  void set(const std::string& path, int line) { lines_[path] = line; }
  bool has(const std::string& path) const { return lines_.contains(path); }
  /// The line of `path`, or of the nearest section around it that has one; 0 for the file as a whole.
  int line_of(std::string_view path) const;

 private:
  std::map<std::string, int, std::less<>> lines_;
};

struct ReadConfig {
  Config config;
  KeyLines lines;
};

/// Throws UsageError if the file cannot be read or is not TOML ("file:line:column: …"). Every other fault
/// goes into `faults`, and its key keeps the default.
ReadConfig read_config(const std::filesystem::path& file, Faults& faults);

}  // namespace lockstep
