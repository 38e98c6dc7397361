// The faults of a configuration file, collected so that its author sees them all at once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// Writes control characters as TOML escapes (\n, \u0007), so that a message with words from a file breaks no
/// line and moves no terminal's cursor.
std::string on_one_line(std::string_view text);

class Faults {
 public:
  explicit Faults(std::filesystem::path file) : file_(std::move(file)) {}

  /// `line` is 1-based; 0 means the file as a whole. `remedy` is the correct form.
  void add(int line, std::string what, const std::string& remedy);

  bool empty() const { return faults_.empty(); }

  /// Throws UsageError if there are faults: each on a line, in the order of the file.
  void throw_if_any() const;

 private:
  struct Fault {
    int line;
    std::string text;
  };

  std::filesystem::path file_;
  std::vector<Fault> faults_;
};

}  // namespace lockstep
