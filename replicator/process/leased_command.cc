#include "replicator/process/leased_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>

#include "replicator/process/descendants.h"

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

constexpr milliseconds kMinute{60'000};

/// Until `then`, but at most `longest`, for poll().
int poll_timeout(SteadyTime then, milliseconds longest) {
  const SteadyTime now = SystemClock().now();
  if (then <= now) return 0;
  if (then >= now + longest) return static_cast<int>(longest.count());
  return static_cast<int>(std::chrono::ceil<milliseconds>(then - now).count());
}

}  // namespace

NotStarted::NotStarted(const std::string& command, int error)
    : Error({"starting " + command, std::strerror(error), "check the command behind --"}),
      exit_code_(error == ENOENT ? 127 : 126) {}

LeasedCommand::LeasedCommand(CaughtSignals& signals, const InheritedDescriptors& inherited, Start start)
    : signals_(signals) {
  terminal_ = foreground_terminal();
  if (terminal_ >= 0 && ::getpgrp() != ::getpid()) {
    ::close(terminal_);
    terminal_ = -1;
    own_group_ = false;
  }
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  shared_ = new (memory) Shared;
  shared_->good_until = start.good_until;
  try {
    this->start(inherited, start);
  } catch (...) {
    if (terminal_ >= 0) ::close(terminal_);
    ::munmap(shared_, sizeof(Shared));
    throw;
  }
}

LeasedCommand::~LeasedCommand() {
  if (running_) kill_all();
  ::close(alive_);
  ::munmap(shared_, sizeof(Shared));
  if (terminal_ >= 0) {
    hand_terminal_to(terminal_, ::getpgrp());
    ::close(terminal_);
  }
}

void LeasedCommand::start(const InheritedDescriptors& inherited, Start& start) {
  std::vector<std::string> variables = merged_environment(start.environment);
  const std::vector<char*> argv = pointers(start.command);
  const std::vector<char*> envp = pointers(variables);
  int failure[2];
  int alive[2];
  require(::pipe2(failure, O_CLOEXEC), "pipe");
  require(::pipe2(alive, O_CLOEXEC), "pipe");
  adopt_orphans();
  pid_ = ::fork();
  if (pid_ == 0) {
    if (own_group_) ::setpgid(0, 0);
    if (terminal_ >= 0) hand_terminal_to(terminal_, ::getpid());
    // Also descriptors that keep the other end of `alive` open, and sockets: a server sees them close when we
    // die.
    inherited.close_others({alive[0], failure[1]});
    guard(argv.data(), envp.data(), alive[0], failure[1]);
  }
  const int fork_error = errno;
  if (pid_ > 0 && own_group_) ::setpgid(pid_, pid_);
  ::close(failure[1]);
  ::close(alive[0]);
  alive_ = alive[1];
  int error = 0;
  const bool failed = pid_ < 0 || ::read(failure[0], &error, sizeof error) == sizeof error;
  ::close(failure[0]);
  if (pid_ < 0) error = fork_error;
  if (failed) {
    ::close(alive_);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    if (terminal_ >= 0) hand_terminal_to(terminal_, ::getpgrp());
    throw NotStarted(start.command[0], error);
  }
  running_ = true;
}

/// The guard's whole life. It has one thread, and the C library keeps the heap usable after a fork.
void LeasedCommand::guard(char* const* argv, char* const* envp, int alive, int failure) const {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  adopt_orphans();
  const pid_t self = ::getpid();
  const pid_t above = ::getppid();
  const pid_t command = ::fork();
  if (command == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != self) ::_exit(126);
    shared_->command = ::getpid();
    ::sigprocmask(SIG_SETMASK, &signals_.mask_before(), nullptr);
    ::execvpe(argv[0], argv, envp);
  }
  if (command <= 0) {
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
    ::_exit(127);
  }
  ::close(failure);
  if (!own_group_) ::setpgid(0, 0);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  const int ended = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  while (true) {
    pollfd waits[] = {{ended, POLLIN, 0}, {alive, POLLIN, 0}};
    const auto end = [this] {
      return shared_->good_until.load() - (shared_->terminated ? milliseconds(0) : shared_->grace.load());
    };
    // The end moves only to a later time, so it is early enough to look again then.
    ::poll(waits, 2, poll_timeout(end(), kMinute));
    const SteadyTime now = SystemClock().now();
    if (waits[1].revents != 0) {
      end_descendants(std::min(now + kTermination, shared_->good_until.load()));
      ::_exit(128 + SIGKILL);
    }
    if (now >= end()) {
      // The process that should have ended the command is stopped, or the command ignores SIGTERM.
      shared_->expired = true;
      end_descendants(shared_->good_until);
      ::_exit(128 + SIGKILL);
    }
    signalfd_siginfo info{};
    while (::read(ended, &info, sizeof info) == sizeof info) {
    }
    int status = 0;
    for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
      if (child != command) continue;
      if (WIFSTOPPED(status)) {
        if (terminal_ < 0) continue;
        shared_->stopped = true;
        if (::getppid() == above) ::kill(above, SIGCHLD);
        continue;
      }
      const bool all_ended = end_descendants(SystemClock().now() + kTermination);
      if (!all_ended) {
        constexpr std::string_view kMessage =
            "lockstep: a process that the command has started could not be ended, and outlives the lock\n";
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
      }
      ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
  }
}

void LeasedCommand::lose() {
  lost_.set();
}

int LeasedCommand::wait(const std::function<SteadyTime()>& good_until, milliseconds grace) {
  // The guard reads the end of the lease from time to time; and a lease that is renewed ends later.
  constexpr milliseconds kLook{500};
  const SystemClock clock;
  shared_->grace = grace / 2;
  while (true) {
    shared_->good_until = good_until();
    pollfd waits[] = {{signals_.descriptor(), POLLIN, 0}, {lost_.descriptor(), POLLIN, 0}};
    // A command that is being ended need not hear of the loss again.
    const nfds_t watched = kill_at_ ? 1 : 2;
    ::poll(waits, watched, poll_timeout(kill_at_ ? *kill_at_ : good_until() - grace, kLook));
    pass_on_signals();
    if (shared_->stopped.exchange(false)) stop_with_child();
    if (const std::optional<int> code = reap()) return *code;
    if (!kill_at_ && waits[1].revents != 0) {
      terminate(clock.now() + kTermination);
    } else if (!kill_at_ && clock.now() >= good_until() - grace) {
      terminate(good_until());
    } else if (kill_at_ && clock.now() >= *kill_at_) {
      kill_all();
      return 128 + SIGKILL;
    }
  }
}

void LeasedCommand::terminate(SteadyTime kill_at) {
  kill_at_ = kill_at;
  shared_->terminated = true;
  // The guard ends when the command has ended, and has seen to the others.
  signal_descendants(SIGTERM, pid_);
  signal_descendants(SIGCONT);
}

void LeasedCommand::kill_all() {
  ::kill(pid_, SIGKILL);
  end_descendants(SystemClock().now());
  running_ = false;
}

void LeasedCommand::signal_child(int number) const {
  ::kill(own_group_ ? -pid_ : shared_->command.load(), number);
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
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  running_ = false;
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  guard_killed_ = WTERMSIG(status);
  end_descendants(SystemClock().now());
  return 128 + WTERMSIG(status);
}

/// Ctrl-Z: the shell waits for us, so we stop as well. wait() finds out afterwards whether the lease has run
/// out meanwhile.
void LeasedCommand::stop_with_child() {
  hand_terminal_to(terminal_, ::getpgrp());
  ::kill(::getpid(), SIGSTOP);
  if (SystemClock().now() >= shared_->good_until.load()) return;  // it is ended without continuing
  hand_terminal_to(terminal_, pid_);
  signal_child(SIGCONT);
}

}  // namespace lockstep
