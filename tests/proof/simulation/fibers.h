// All threads of the program in one thread of the machine: each is a fiber that runs until it waits, and
// which of those that can run is next is drawn by lot. Time passes only while none can. So a seed gives the
// same run again, however long a run is and whatever else the machine does.
//
// A fiber belongs to a process. A process can be killed or stopped at any point where one of its fibers
// waits: those of a killed one never run again, and what they have is not freed, as nothing is that a killed
// process would do.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "replicator/scheduler.h"
#include "tests/proof/simulation/schedule.h"

namespace lockstep::simulation {

/// 0 is the world: writers, servers, whoever looks on.
using ProcessNumber = int;

/// No thread can run any more, and none ever will.
class Stuck : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class Fibers final : public Scheduler {
 public:
  /// Draws which fiber is next, and what the program draws by lot.
  Fibers(Lot order, Lot of_program);
  ~Fibers() override;
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Begins a fiber of this process.
  std::uint64_t start(ProcessNumber process, std::function<void()> body);

  /// Runs the fibers until `main` of them has ended. Throws Stuck when none can run any more.
  void run(std::uint64_t main);

  /// No fiber of the process runs any more, for good.
  void kill(ProcessNumber process);

  /// None does until then.
  void stop(ProcessNumber process, SteadyTime until);

  /// Of the fiber that runs.
  ProcessNumber process() const;

  /// The fiber that runs waits so long.
  void sleep(std::chrono::nanoseconds time);

  SteadyTime now() override { return now_; }
  std::uint32_t random() override { return static_cast<std::uint32_t>(of_program_.next()); }
  std::uint64_t post(std::function<void()> body) override { return start(process(), std::move(body)); }
  void join(std::uint64_t thread) override;
  void wait(const void* key, SteadyTime until) override;
  void wake(const void* key) override;

 private:
  struct Fiber;

  static void enter(unsigned high, unsigned low);
  Fiber* choose();
  void run(Fiber& fiber);

  Lot order_;
  Lot of_program_;
  SteadyTime now_{std::chrono::hours(1)};
  std::uint64_t last_ = 0;                      // number that was given out
  std::vector<std::unique_ptr<Fiber>> fibers_;  // that have not ended, in the order of their beginning
  std::map<ProcessNumber, SteadyTime> stopped_until_;
  std::vector<std::unique_ptr<char[]>> stacks_;  // to use again
  Fiber* current_ = nullptr;
  ucontext_t loop_{};
};

}  // namespace lockstep::simulation
