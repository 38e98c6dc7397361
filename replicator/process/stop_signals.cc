#include "replicator/process/stop_signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace lockstep {
namespace {

// A signal handler reaches nothing but globals. A write there wakes the waiter.
int wake_descriptor = -1;
constexpr std::uint64_t kSignalled = 1;
constexpr std::uint64_t kDone = 1'000;  // a counter's sum: greater than any number of signals

void ask_to_stop(int) {
  const int error = errno;
  // The next signal has its default effect: it ends the process.
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  ::alarm(static_cast<unsigned>(kStopDeadline.count()));
  [[maybe_unused]] const ssize_t written = ::write(wake_descriptor, &kSignalled, sizeof kSignalled);
  errno = error;
}

void end_at_deadline(int) {
  constexpr std::string_view kMessage =
      "lockstep: not stopped in time, ended; the next start repeats the writes that were not acknowledged\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(1);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  wake_descriptor = ::eventfd(0, EFD_CLOEXEC);
  if (wake_descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  waiter_ = std::jthread([this] { wait_for_signal(); });
  handle(SIGALRM, end_at_deadline);
  handle(SIGTERM, ask_to_stop);
  handle(SIGINT, ask_to_stop);
}

StopSignals::~StopSignals() {
  for (const int signal : {SIGTERM, SIGINT, SIGALRM}) handle(signal, SIG_DFL);
  ::alarm(0);
  [[maybe_unused]] const ssize_t written = ::write(wake_descriptor, &kDone, sizeof kDone);
  waiter_.join();
  ::close(wake_descriptor);
  wake_descriptor = -1;
}

void StopSignals::wait_for_signal() {
  std::uint64_t sum = 0;
  while (::read(wake_descriptor, &sum, sizeof sum) < 0 && errno == EINTR) {
  }
  if (sum >= kDone) return;
  stop_.request_stop();
}

}  // namespace lockstep
