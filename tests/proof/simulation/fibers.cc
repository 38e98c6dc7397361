#include "tests/proof/simulation/fibers.h"

#include <cxxabi.h>

#include <algorithm>
#include <utility>

#include "tests/proof/simulation/memory.h"

namespace lockstep::simulation {
namespace {

constexpr std::size_t kStack = 256UL * 1024;

// What a step takes, at most: else a loop that never waits for long would take no time at all.
constexpr std::uint32_t kMostMicroseconds = 20;

// The runtime library's, of the exceptions that are being handled: a fiber may wait while it handles one.
// (Itanium C++ ABI: Exception Handling, 2.2.2)
struct Exceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};
Exceptions& exceptions_of_thread() {
  return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

}  // namespace

struct Fibers::Fiber {
  std::uint64_t number = 0;
  ProcessNumber process = 0;
  std::function<void()> body;
  std::unique_ptr<char[]> stack;
  ucontext_t context{};
  Exceptions exceptions;
  bool has_ended = false;
  bool waits = false;
  const void* key = nullptr;  // that it waits for
  SteadyTime until;
};

Fibers::Fibers(Lot order, Lot of_program) : order_(order), of_program_(of_program) {}

Fibers::~Fibers() = default;

std::uint64_t Fibers::start(ProcessNumber process, std::function<void()> body) {
  const AllocatesFor world(0);
  auto fiber = std::make_unique<Fiber>();
  fiber->number = ++last_;
  fiber->process = process;
  fiber->body = std::move(body);
  if (stacks_.empty()) {
    fiber->stack = std::make_unique_for_overwrite<char[]>(kStack);
  } else {
    fiber->stack = std::move(stacks_.back());
    stacks_.pop_back();
  }
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.uc_stack.ss_size = kStack;
  fiber->context.uc_link = &loop_;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&fiber->context, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  fibers_.push_back(std::move(fiber));
  return last_;
}

// What makecontext() calls takes numbers only.
void Fibers::enter(unsigned high, unsigned low) {
  auto* const self = reinterpret_cast<Fibers*>(static_cast<std::uintptr_t>(high) << 32 | low);
  Fiber& fiber = *self->current_;
  fiber.body();
  fiber.body = nullptr;
  fiber.has_ended = true;
}

void Fibers::run(std::uint64_t main) {
  const auto is_over = [&] {
    return std::ranges::none_of(fibers_, [&](const auto& fiber) { return fiber->number == main; });
  };
  while (!is_over()) {
    Fiber* const next = choose();
    if (next == nullptr) throw Stuck("all threads wait for each other");
    now_ += std::chrono::microseconds(1 + order_.below(kMostMicroseconds));
    run(*next);
    if (!next->has_ended) continue;
    wake(next);
    stacks_.push_back(std::move(next->stack));
    std::erase_if(fibers_, [&](const auto& fiber) { return fiber.get() == next; });
  }
}

void Fibers::run(Fiber& fiber) {
  const Exceptions of_loop = std::exchange(exceptions_of_thread(), fiber.exceptions);
  current_ = &fiber;
  {
    const AllocatesFor of_fiber(fiber.process);
    swapcontext(&loop_, &fiber.context);
  }
  current_ = nullptr;
  fiber.exceptions = std::exchange(exceptions_of_thread(), of_loop);
}

// Where none can run, time passes until one can.
Fibers::Fiber* Fibers::choose() {
  std::vector<Fiber*> ready;
  SteadyTime next = SteadyTime::max();
  for (const auto& fiber : fibers_) {
    SteadyTime at = fiber->waits ? fiber->until : now_;
    if (const auto stopped = stopped_until_.find(fiber->process); stopped != stopped_until_.end())
      at = std::max(at, stopped->second);
    if (at <= now_) ready.push_back(fiber.get());
    next = std::min(next, at);
  }
  if (ready.empty()) {
    if (next == SteadyTime::max()) return nullptr;
    now_ = next;
    return choose();
  }
  Fiber* const chosen = order_.one_of(ready);
  chosen->waits = false;
  return chosen;
}

void Fibers::wait(const void* key, SteadyTime until) {
  Fiber& fiber = *current_;
  fiber.waits = true;
  fiber.key = key;
  fiber.until = until;
  swapcontext(&fiber.context, &loop_);
  fiber.key = nullptr;
}

void Fibers::wake(const void* key) {
  for (const auto& fiber : fibers_) {
    if (fiber->waits && fiber->key == key) fiber->waits = false;
  }
}

void Fibers::join(std::uint64_t thread) {
  while (true) {
    const auto found =
        std::ranges::find_if(fibers_, [&](const auto& fiber) { return fiber->number == thread; });
    if (found == fibers_.end()) return;
    wait(found->get(), SteadyTime::max());
  }
}

void Fibers::sleep(std::chrono::nanoseconds time) {
  const SteadyTime until = now_ + time;
  while (now_ < until) wait(nullptr, until);
}

void Fibers::kill(ProcessNumber process) {
  stopped_until_.erase(process);
  for (auto& fiber : fibers_) {
    if (fiber->process == process) static_cast<void>(fiber.release());  // as it is, for good
  }
  std::erase(fibers_, nullptr);
}

void Fibers::stop(ProcessNumber process, SteadyTime until) {
  stopped_until_[process] = until;
}

ProcessNumber Fibers::process() const {
  return current_ == nullptr ? 0 : current_->process;
}

}  // namespace lockstep::simulation
