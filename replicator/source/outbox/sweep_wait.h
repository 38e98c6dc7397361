// How `status` and `wait` describe a sweep. It may stand still for longer than a wait's default time-out, and
// only its leader knows until when (pipeline/jobs/sweep.h).
#pragma once

namespace lockstep {

inline constexpr const char* kSweepWaits =
    "after a leader's death it waits elasticsearch.request_timeout and 30 s for that leader's late writes";

}  // namespace lockstep
