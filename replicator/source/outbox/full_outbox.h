// Why every index is compared after the outbox was full: the reason of the jobs that
// OutboxMaintenance::resume() adds, by which the leader knows until they are done that changes were dropped.
#pragma once

#include <string_view>

namespace lockstep {

inline constexpr std::string_view kOutboxWasFull = "the outbox had reached max_outbox_size";

}  // namespace lockstep
