// A pseudo-terminal with an interactive shell in it: what somebody sees who types there.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

namespace lockstep::support {

inline constexpr const char* kCtrlC = "\x03";
inline constexpr const char* kCtrlZ = "\x1a";

class Terminal {
 public:
  /// Starts bash without start-up files, with job control, 100 columns wide. Throws std::runtime_error when
  /// that can't be done.
  Terminal();
  /// Hangs up: what still runs in it is ended.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys);

  /// Everything that has been shown, what was typed included.
  std::string screen() const;

  /// Whether `text` is shown after what earlier calls have found, within `deadline`. What is typed is shown
  /// too: look for what only the output can be.
  bool shows(const std::string& text, std::chrono::milliseconds deadline);

 private:
  void read();

  int master_ = -1;
  pid_t shell_ = -1;
  mutable std::mutex mutex_;
  std::string screen_;
  std::size_t seen_ = 0;
  std::future<void> reader_;
};

/// A command as it is typed to the shell, each word quoted, without the end of the line.
std::string shell_line(const std::string& file, const std::vector<std::string>& arguments);

}  // namespace lockstep::support
