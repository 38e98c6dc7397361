#include "replicator/process/full_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string_view>

namespace lockstep {
namespace {

constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[2J";  // the other screen, without a cursor
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";
constexpr std::string_view kHome = "\033[H";
constexpr std::string_view kClearLine = "\033[K";  // the rest of the line
constexpr std::string_view kClearBelow = "\033[J";

}  // namespace

FullScreen::FullScreen() {
  termios now{};
  if (::tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VSUSP] = _POSIX_VDISABLE;  // a shell would show its prompt on our screen
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
  }
  std::cout << kEnter << std::flush;
}

FullScreen::~FullScreen() {
  std::cout << kLeave << std::flush;
  if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

FullScreen::Size FullScreen::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void FullScreen::draw(const std::string& text) {
  std::string drawn(kHome);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) drawn += "\r\n";
    drawn += text.substr(begin, end - begin);
    drawn += kClearLine;
    begin = end + 1;
  }
  std::cout << drawn << kClearBelow << std::flush;
}

std::optional<char> FullScreen::key(std::chrono::milliseconds patience, const std::stop_token& stop) {
  const std::stop_callback at_stop(stop, [this] { stopped_.set(); });
  pollfd waits[] = {{stopped_.descriptor(), POLLIN, 0},
                    {before_ && !keys_ended_ ? STDIN_FILENO : -1, POLLIN, 0}};
  if (::poll(waits, 2, static_cast<int>(patience.count())) <= 0 || waits[0].revents != 0) return std::nullopt;
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) == 1) return key;
  keys_ended_ = true;
  return std::nullopt;
}

}  // namespace lockstep
