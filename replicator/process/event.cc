#include "replicator/process/event.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace lockstep {

Event::Event() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Event::~Event() {
  ::close(descriptor_);
}

void Event::set() {
  constexpr std::uint64_t kOne = 1;
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, &kOne, sizeof kOne);
}

}  // namespace lockstep
