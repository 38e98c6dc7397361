// How `status` and `wait` describe a sweep. It may stand still for longer than a wait's default time-out, and
// only its leader knows until when (pipeline/jobs/sweep.h).
#pragma once

namespace lockstep {

inline constexpr const char* kSweepWaits =
    "if an earlier leader has died, it first waits until that leader's last write must have landed: "
    "elasticsearch.request_timeout and 30 s after the lead changed";

}  // namespace lockstep
