#include "replicator/process/caught_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace lockstep {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};

}  // namespace

bool ends_a_program(int number) {
  return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT || number == SIGALRM;
}

CaughtSignals::CaughtSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kSignals) sigaddset(&set, number);
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

CaughtSignals::~CaughtSignals() {
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<CaughtSignals::Caught> CaughtSignals::next() {
  signalfd_siginfo info{};
  if (::read(descriptor_, &info, sizeof info) != sizeof info) return std::nullopt;
  return Caught{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

StopOnSignal::StopOnSignal(CaughtSignals& signals) : signals_(signals) {
  thread_ = std::thread([this] { watch(); });
}

StopOnSignal::~StopOnSignal() {
  number();
}

std::optional<int> StopOnSignal::number() {
  if (thread_.joinable()) {
    end_.set();
    thread_.join();
  }
  return number_;
}

void StopOnSignal::watch() {
  pollfd waits[] = {{signals_.descriptor(), POLLIN, 0}, {end_.descriptor(), POLLIN, 0}};
  while (true) {
    if (::poll(waits, 2, -1) < 0) continue;
    while (const auto caught = signals_.next()) {
      if (!ends_a_program(caught->number) || number_) continue;
      number_ = caught->number;
      stop_.request_stop();
    }
    if (waits[1].revents != 0) return;
  }
}

}  // namespace lockstep
