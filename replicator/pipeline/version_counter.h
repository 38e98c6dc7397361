// Numbers the transactions of one leadership. Versions of documents are made of these numbers. For any
// thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "replicator/document_version.h"
#include "replicator/mutex.h"
#include "replicator/source/transaction.h"

namespace lockstep {

class VersionCounter {
 public:
  explicit VersionCounter(Epoch epoch) : epoch_(epoch) {}

  Epoch epoch() const { return epoch_; }

  /// Takes the transaction's snapshot and a number for its documents, in one step: so numbers are in the
  /// order of the snapshots (V1), whichever thread and connection a transaction belongs to.
  std::int64_t number(SourceTransaction& transaction) {
    const MutexLock lock(mutex_);
    transaction.take_snapshot();
    return ++counter_;
  }

  /// Above the versions of all transactions that have their number, and not above those of any that has not.
  DocumentVersion next() const {
    const MutexLock lock(mutex_);
    return DocumentVersion(epoch_, (counter_ + 1) * kVersionsEach);
  }

  /// From now on the counter's versions are above `version`, which another program has given to a document.
  /// The counter only rises, so V1 stands. False, and nothing is done: only a later epoch is above it, or the
  /// jump would take more than half of this epoch's numbers.
  bool rise_above(DocumentVersion version) {
    const std::int64_t number = (version.value() - DocumentVersion(epoch_, 0).value()) / kVersionsEach;
    if (number > kMostJumped) return false;
    const MutexLock lock(mutex_);
    counter_ = std::max(counter_, number);
    return true;
  }

 private:
  static constexpr std::int64_t kVersionsEach = 2;  // one for deletes, one for writes (W2)
  static constexpr std::int64_t kMostJumped =
      (std::int64_t{1} << (DocumentVersion::kCounterBits - 1)) / kVersionsEach;

  const Epoch epoch_;
  mutable Mutex mutex_;
  std::int64_t counter_ LOCKSTEP_GUARDED_BY(mutex_) = 0;
};

}  // namespace lockstep
