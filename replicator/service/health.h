// Whether a pipeline does its work, judged by what it has been seen to do, not by a thread that is still
// there.
#pragma once

#include <chrono>
#include <string>

#include "replicator/pipeline/progress.h"

namespace lockstep {

/// A loop that has not gone round for so long hangs. More than the longest single statement or request takes.
inline constexpr std::chrono::minutes kHungAfter{5};

/// A pipeline with something to do that got nowhere for so long is not ready.
inline constexpr std::chrono::seconds kStuckAfter{30};

enum class Verdict { kGood, kBad };

struct Health {
  Verdict alive = Verdict::kGood;  ///< /healthz: the process need not be started anew
  Verdict ready =
      Verdict::kGood;  ///< /readyz: documents follow (or another process leads and this one watches it)
  std::string reason;  ///< one line
};

Health judge(const ReplicationProgress& progress, SteadyTime now);

}  // namespace lockstep
