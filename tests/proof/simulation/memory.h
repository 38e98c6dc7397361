// How much memory each process of the simulation holds: operator new is this program's own. What the fakes
// allocate belongs to the world, as far as they do it when a request arrives.
#pragma once

#include <cstdint>

namespace lockstep::simulation {

/// From now on what is allocated belongs to this process (0: the world). Returns who had it until now.
int allocate_for(int process);

/// What the process holds.
std::int64_t bytes_of(int process);

/// For as long as it lives.
class AllocatesFor {
 public:
  explicit AllocatesFor(int process) : before_(allocate_for(process)) {}
  ~AllocatesFor() { allocate_for(before_); }
  AllocatesFor(const AllocatesFor&) = delete;
  AllocatesFor& operator=(const AllocatesFor&) = delete;

 private:
  const int before_;
};

}  // namespace lockstep::simulation
