// Child processes: run with captured output, signalled, waited for with a deadline, and never left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::support {

/// What a process that was waited for has left. `exit_code` is 128 + the signal when a signal ended it.
struct Completed {
  int exit_code = 0;
  std::string out;
  std::string err;
};

class Program {
 public:
  using Environment = std::map<std::string, std::string>;

  /// Starts `file` (searched in PATH unless it has a slash) with this process's environment, where
  /// `environment` adds or replaces. Throws std::runtime_error when that can't be done. It dies with the
  /// thread that started it.
  Program(const std::string& file, const std::vector<std::string>& arguments,
          const Environment& environment = {});
  /// Kills it when it still runs.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  bool running() { return !exit_code_now(); }

  void signal(int number);
  /// SIGKILL, and waits for its end.
  void kill();

  /// Its exit code, or none when it has not ended within `deadline`.
  std::optional<int> wait(std::chrono::milliseconds deadline);

  /// What it has written until now.
  std::string out() const;
  std::string err() const;

 private:
  std::optional<int> exit_code_now();

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::optional<int> exit_code_;
};

/// Runs a program to its end. Throws std::runtime_error, with what it wrote, when it takes longer than
/// `deadline`.
Completed run_program(const std::string& file, const std::vector<std::string>& arguments,
                      const Program::Environment& environment = {},
                      std::chrono::milliseconds deadline = std::chrono::minutes(2));

/// Path of the program under test: build/lockstep, or what LOCKSTEP_TEST_PROGRAM names.
std::string lockstep_program();

}  // namespace lockstep::support
