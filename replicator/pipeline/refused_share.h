// Whether so many documents are refused that something is wrong with all of them: a mapping that takes
// nothing is one mistake, not a million dead letters.
//
// Judged index by index, over windows of kWindow documents or more: whatever one save brings belongs to one
// window. A window in which more than the configured share became dead letters ends the pipeline with an
// Error before it is saved, so that the checkpoint stays in front of what was refused. A document that was a
// dead letter already and is refused again makes the table no longer and does not count at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replicator/source/source.h"

namespace lockstep {

class RefusedShare {
 public:
  /// Documents of an index that are judged together, at least.
  static constexpr std::int64_t kWindow = 1'000;

  /// `most` is replication.max_refused_share.
  RefusedShare(double most, const AppliedPipeline& pipeline);

  /// Takes in what is about to be committed; `fresh` is what SourceTransaction::save() has returned for it.
  /// Throws Error, never to be retried, when a window ends above the share: then nothing of this may be
  /// committed.
  void count(const Acknowledged& acknowledged, const std::vector<std::size_t>& fresh);

 private:
  struct Window {
    std::int64_t documents = 0;
    std::int64_t refused = 0;
    std::string first;  // error of the first that was refused
  };

  void judge(int index, const Window& window) const;

  double most_;
  std::map<int, std::string> aliases_;
  std::map<int, Window> windows_;  // by index
};

}  // namespace lockstep
