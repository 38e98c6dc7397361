#include "tests/support/random_seed.h"

#include <cstdlib>
#include <iostream>
#include <random>

namespace lockstep::support {

std::uint64_t random_seed() {
  std::random_device device;
  std::uint64_t seed = (std::uint64_t{device()} << 32) | device();
  const char* given = std::getenv("LOCKSTEP_TEST_SEED");  // NOLINT(concurrency-mt-unsafe)
  if (given != nullptr && *given != '\0') seed = std::stoull(given);
  std::cout << "random seed " << seed << "; repeat with LOCKSTEP_TEST_SEED=" << seed << std::endl;
  return seed;
}

std::string random_name(int length) {
  static constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device device;
  std::uniform_int_distribution<std::size_t> pick(0, kAlphabet.size() - 1);
  std::string name;
  for (int i = 0; i < length; ++i) name += kAlphabet[pick(device)];
  return name;
}

}  // namespace lockstep::support
