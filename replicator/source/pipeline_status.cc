#include "replicator/source/pipeline_status.h"

namespace lockstep {

std::string in_words(const LeadHolder& stranger) {
  const std::string session = stranger.pid == 0 ? "a prepared transaction"
                                                : "session " + std::to_string(stranger.pid) + " of role " +
                                                      stranger.user + " (" + stranger.application + ")";
  return session +
         " holds the lock of the lead, though it may not lead; the lead goes past it, but end it: " +
         (stranger.pid == 0 ? "see pg_prepared_xacts"
                            : "select pg_terminate_backend(" + std::to_string(stranger.pid) + ")");
}

}  // namespace lockstep
