#include "tests/support/terminal.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "tests/support/eventually.h"

namespace lockstep::support {

namespace {

using namespace std::chrono_literals;

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void kill_session(pid_t session) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process > 0 && ::getsid(process) == session) ::kill(process, SIGKILL);
  }
}

}  // namespace

Terminal::Terminal() {
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 25;
  shell_ = forkpty(&master_, nullptr, nullptr, &size);
  if (shell_ < 0) throw std::runtime_error(std::string("forkpty: ") + std::strerror(errno));
  if (shell_ == 0) {
    // Only what is safe after fork in a process with threads.
    // A terminal's first process ignores nothing, whatever the tests were started by.
    for (const int signal : {SIGINT, SIGQUIT, SIGHUP}) ::signal(signal, SIG_DFL);
    const char* arguments[] = {"bash", "--norc", "--noprofile", "--noediting", "-i", nullptr};
    execvp("bash", const_cast<char**>(arguments));
    _exit(127);
  }
  reader_ = std::async(std::launch::async, [this] { read(); });
}

Terminal::~Terminal() {
  type(kCtrlC);
  ::kill(shell_, SIGHUP);  // bash hands it on to its jobs
  ::kill(shell_, SIGKILL);
  ::waitpid(shell_, nullptr, 0);
  // A shell that is stopped while it starts a command (vfork) can neither be stopped nor ended but by this.
  while (reader_.wait_for(10s) != std::future_status::ready) kill_session(shell_);
  ::close(master_);
}

void Terminal::read() {
  char buffer[4096];
  while (true) {
    const ssize_t got = ::read(master_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;  // EIO: nobody has the terminal open any more
    const std::lock_guard lock(mutex_);
    screen_.append(buffer, static_cast<std::size_t>(got));
  }
}

void Terminal::type(const std::string& keys) {
  [[maybe_unused]] const ssize_t written = ::write(master_, keys.data(), keys.size());
}

std::string Terminal::screen() const {
  const std::lock_guard lock(mutex_);
  return screen_;
}

bool Terminal::shows(const std::string& text, std::chrono::milliseconds deadline) {
  return wait_until(
      [&] {
        const std::lock_guard lock(mutex_);
        const std::size_t at = screen_.find(text, seen_);
        if (at == std::string::npos) return false;
        seen_ = at + text.size();
        return true;
      },
      deadline);
}

std::string shell_line(const std::string& file, const std::vector<std::string>& arguments) {
  std::string line = shell_quoted(file);
  for (const std::string& argument : arguments) line += " " + shell_quoted(argument);
  return line;
}

}  // namespace lockstep::support
