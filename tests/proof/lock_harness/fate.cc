#include "tests/proof/lock_harness/fate.h"

#include <csignal>
#include <iostream>
#include <thread>

namespace lockstep::harness {

void Fate::pass(std::string_view point) {
  if (one_in(odds_.points_a_death)) {
    std::cout << "dies " << point << std::endl;
    std::raise(SIGKILL);
  }
  if (one_in(odds_.points_a_sleep)) {
    std::cout << "sleeps " << point << std::endl;
    const auto longest = static_cast<std::uint64_t>(odds_.longest.count());
    std::this_thread::sleep_for(std::chrono::milliseconds(number() % longest));
  }
}

}  // namespace lockstep::harness
