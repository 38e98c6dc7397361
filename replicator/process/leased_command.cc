#include "replicator/process/leased_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "replicator/error.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;

int require(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool replaced = std::any_of(added.begin(), added.end(), [&](const std::string& one) {
      return text.starts_with(one.substr(0, one.find('=') + 1));
    });
    if (!replaced) merged.emplace_back(text);
  }
  merged.insert(merged.end(), added.begin(), added.end());
  return merged;
}

/// The terminal in whose foreground group we are; -1: none.
int foreground_terminal() {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return -1;
  if (::tcgetpgrp(terminal) == ::getpgrp()) return terminal;
  ::close(terminal);
  return -1;
}

/// Makes `group` the terminal's foreground group. Blocks SIGTTOU, which would stop us if we are in the
/// background by now.
void hand_terminal_to(int terminal, pid_t group) {
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  ::tcsetpgrp(terminal, group);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

LeasedCommand::LeasedCommand(CaughtSignals& signals, std::vector<std::string> command,
                             const std::vector<std::string>& environment)
    : signals_(signals) {
  terminal_ = foreground_terminal();
  if (terminal_ >= 0 && ::getpgrp() != ::getpid()) {
    ::close(terminal_);
    terminal_ = -1;
    own_group_ = false;
  }
  try {
    start(command, environment);
  } catch (...) {
    if (terminal_ >= 0) ::close(terminal_);
    throw;
  }
}

LeasedCommand::~LeasedCommand() {
  if (running_) {
    signal_child(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (terminal_ >= 0) {
    hand_terminal_to(terminal_, ::getpgrp());
    ::close(terminal_);
  }
}

void LeasedCommand::start(std::vector<std::string>& command, const std::vector<std::string>& environment) {
  std::vector<std::string> variables = merged_environment(environment);
  const std::vector<char*> argv = pointers(command);
  const std::vector<char*> envp = pointers(variables);
  int failure[2];
  require(::pipe2(failure, O_CLOEXEC), "pipe");
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    // Here only functions that are safe after a fork in a process with threads.
    if (own_group_) ::setpgid(0, 0);
    if (terminal_ >= 0) hand_terminal_to(terminal_, ::getpid());
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(126);
    ::sigprocmask(SIG_SETMASK, &signals_.mask_before(), nullptr);
    ::execvpe(argv[0], argv.data(), envp.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(failure[1], &error, sizeof error);
    ::_exit(127);
  }
  const int fork_error = errno;
  ::close(failure[1]);
  int error = 0;
  const bool failed = pid_ < 0 || ::read(failure[0], &error, sizeof error) == sizeof error;
  ::close(failure[0]);
  if (pid_ < 0) error = fork_error;
  if (failed) {
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    if (terminal_ >= 0) hand_terminal_to(terminal_, ::getpgrp());
    throw Error({"starting " + command[0], std::strerror(error), "check the command behind --"});
  }
  running_ = true;
}

void LeasedCommand::lose() {
  lost_.set();
}

int LeasedCommand::wait(const std::function<SteadyTime()>& good_until) {
  const SystemClock clock;
  while (true) {
    const SteadyTime deadline = kill_at_ ? *kill_at_ : good_until();
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock.now());
    pollfd waits[] = {{signals_.descriptor(), POLLIN, 0}, {lost_.descriptor(), POLLIN, 0}};
    // A command that is being ended need not hear of the loss again.
    const nfds_t watched = kill_at_ ? 1 : 2;
    ::poll(waits, watched, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    pass_on_signals();
    if (const std::optional<int> code = reap()) return *code;
    const bool lost = waits[1].revents != 0 || clock.now() >= good_until();
    if (!kill_at_ && lost) {
      kill_at_ = clock.now() + kTermination;
      signal_child(SIGTERM);
      signal_child(SIGCONT);
    } else if (kill_at_ && clock.now() >= *kill_at_) {
      signal_child(SIGKILL);
      kill_at_ = clock.now() + kTermination;
    }
  }
}

void LeasedCommand::signal_child(int number) const {
  ::kill(own_group_ ? -pid_ : pid_, number);
}

void LeasedCommand::pass_on_signals() {
  while (const auto caught = signals_.next()) {
    if (caught->number == SIGCHLD) continue;
    // The terminal has sent it to the child, too, when both are in one group.
    if (!own_group_ && caught->from_terminal) continue;
    signal_child(caught->number);
  }
}

std::optional<int> LeasedCommand::reap() {
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG | (terminal_ >= 0 ? WUNTRACED : 0));
  if (ended != pid_) return std::nullopt;
  if (WIFSTOPPED(status)) {
    stop_with_child();
    return std::nullopt;
  }
  running_ = false;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Ctrl-Z: the shell waits for us, so we stop as well. wait() finds out afterwards whether the lease has run
/// out meanwhile.
void LeasedCommand::stop_with_child() {
  hand_terminal_to(terminal_, ::getpgrp());
  ::kill(::getpid(), SIGSTOP);
  hand_terminal_to(terminal_, pid_);
  signal_child(SIGCONT);
}

}  // namespace lockstep
