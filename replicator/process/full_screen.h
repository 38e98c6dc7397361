// The whole terminal for one command that redraws itself: no scrolling, no echo, keys without Enter. The
// former contents come back at the end.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "replicator/process/event.h"

namespace lockstep {

/// Standard output is a terminal. At most one lives at a time; the process must not be killed while it does,
/// or the terminal stays as it is.
class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  struct Size {
    int columns = 80;
    int lines = 24;
  };
  Size size() const;

  /// Replaces the screen, line by line and without flicker. `text` has at most size().lines lines.
  void draw(const std::string& text);

  /// Waits for a key, a stop request or `patience`. None: no key was pressed. Standard input that is no
  /// terminal has no keys.
  std::optional<char> key(std::chrono::milliseconds patience, const std::stop_token& stop);

 private:
  std::optional<termios> before_;  // of standard input; none: it is no terminal
  bool keys_ended_ = false;
  Event stopped_;
};

}  // namespace lockstep
