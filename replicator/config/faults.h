// What is wrong with a configuration file, collected so that its author sees all of it at once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// `text` with its control characters written as TOML escapes (\n, \u0007), so that what a file quotes into a
/// message breaks no line and moves no terminal's cursor.
std::string on_one_line(std::string_view text);

class Faults {
 public:
  explicit Faults(std::filesystem::path file) : file_(std::move(file)) {}

  /// `line` is 1-based; 0 stands for the file as a whole. `remedy` says what to write instead.
  void add(int line, std::string what, const std::string& remedy);

  bool empty() const { return faults_.empty(); }

  /// Throws UsageError with every fault, one a line in the order of the file, when there is one.
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
