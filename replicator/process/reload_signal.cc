#include "replicator/process/reload_signal.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace lockstep {

ReloadSignal::ReloadSignal(std::function<void()> on_signal) : on_signal_(std::move(on_signal)) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  thread_ = std::thread([this] { watch(); });
}

ReloadSignal::~ReloadSignal() {
  end_.set();
  thread_.join();
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void ReloadSignal::watch() {
  pollfd waits[] = {{descriptor_, POLLIN, 0}, {end_.descriptor(), POLLIN, 0}};
  while (true) {
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(descriptor_, &info, sizeof info) == sizeof info) on_signal_();
  }
}

}  // namespace lockstep
