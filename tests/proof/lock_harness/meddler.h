// Somebody who does not know what an index of locks is for: again and again it deletes the locks, the journal
// or both while they are used, and restores a document from a time when tokens were greater.
#pragma once

#include <cstdint>
#include <random>
#include <thread>

#include "tests/proof/lock_harness/world.h"

namespace lockstep::harness {

class Meddler {
 public:
  /// Begins at once.
  Meddler(const World& world, std::uint64_t seed);

  struct Done {
    int deleted = 0;   ///< indices
    int restored = 0;  ///< documents
  };

  /// Ends, and says what it has done.
  Done stop();

 private:
  void meddle(const std::stop_token& stop);
  void delete_indices();
  void restore_a_document();

  const World world_;
  std::mt19937_64 random_;
  Done done_;
  std::jthread thread_;
};

}  // namespace lockstep::harness
