// Whether a pipeline works, judged by its progress: a thread that exists may hang.
#pragma once

#include <chrono>
#include <string>

#include "replicator/pipeline/progress.h"

namespace lockstep {

/// A loop that has not turned for so long hangs. Longer than any single statement or request takes.
inline constexpr std::chrono::minutes kHungAfter{5};

/// A pipeline that has work and makes no progress for so long is not ready.
inline constexpr std::chrono::seconds kStuckAfter{30};

enum class Verdict { kGood, kBad };

struct Health {
  Verdict alive = Verdict::kGood;  ///< /healthz: no need to restart the process
  Verdict ready = Verdict::kGood;  ///< /readyz: it applies changes, or could take over from the one that does
  std::string reason;              ///< one line
};

/// Whether changes reach Elasticsearch in this state, the backfill's or those of the source.
bool applies_changes(PipelineState state);

/// Whether it leads or has led, with both servers reached, or stands by: the service is up.
bool is_up(const ReplicationProgress& progress);

Health judge(const ReplicationProgress& progress, SteadyTime now);

}  // namespace lockstep
