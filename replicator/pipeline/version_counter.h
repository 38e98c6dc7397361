// Numbers the transactions of one leadership. Versions of documents are made of these numbers.
#pragma once

#include <cstdint>

#include "replicator/document_version.h"

namespace lockstep {

class VersionCounter {
 public:
  explicit VersionCounter(Epoch epoch) : epoch_(epoch) {}

  Epoch epoch() const { return epoch_; }

  /// A number for the documents of one transaction. Call it in the order of the transactions' snapshots (V1).
  std::int64_t next() { return ++counter_; }

 private:
  Epoch epoch_;
  std::int64_t counter_ = 0;
};

}  // namespace lockstep
