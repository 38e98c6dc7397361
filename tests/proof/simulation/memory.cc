#include "tests/proof/simulation/memory.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace lockstep::simulation {
namespace {

constexpr std::size_t kMostProcesses = 8;

/// In front of each allocation, and as large as its alignment asks.
struct alignas(std::max_align_t) Header {
  std::size_t size;
  std::size_t owner;
};

std::size_t owner = 0;
std::array<std::int64_t, kMostProcesses> held{};

}  // namespace

int allocate_for(int process) {
  return static_cast<int>(std::exchange(owner, static_cast<std::size_t>(process)));
}

std::int64_t bytes_of(int process) {
  return held[static_cast<std::size_t>(process)];
}

void* allocate(std::size_t size) {
  auto* const header = static_cast<Header*>(std::malloc(sizeof(Header) + size));
  if (header == nullptr) throw std::bad_alloc();
  *header = {size, owner};
  held[owner] += static_cast<std::int64_t>(size);
  return header + 1;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  Header* const header = static_cast<Header*>(memory) - 1;
  held[header->owner] -= static_cast<std::int64_t>(header->size);
  std::free(header);
}

}  // namespace lockstep::simulation

void* operator new(std::size_t size) {
  return lockstep::simulation::allocate(size);
}

void operator delete(void* memory) noexcept {
  lockstep::simulation::release(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  lockstep::simulation::release(memory);
}
