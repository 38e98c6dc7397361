#include "replicator/source/pipeline_status.h"

namespace lockstep {

std::string in_words(const LeadHolder& stranger) {
  const std::string session = stranger.pid == 0 ? "a prepared transaction"
                                                : "session " + std::to_string(stranger.pid) + " of role " +
                                                      stranger.user + " (" + stranger.application + ")";
  return session +
         " holds the lock of the lead, and is no lockstep; the leader does without that lock, but end "
         "this: " +
         (stranger.pid == 0 ? "see pg_prepared_xacts"
                            : "select pg_terminate_backend(" + std::to_string(stranger.pid) + ")");
}

std::string reason_of(const LockWait& wait) {
  const std::string pid = std::to_string(wait.holder);
  std::string text = "it waits for a lock" + (wait.relation.empty() ? "" : " on " + wait.relation) + " that ";
  if (wait.holder == 0) return text + "a prepared transaction holds; end that: see pg_prepared_xacts";
  text += "session " + pid;
  if (!wait.user.empty()) text += " of role " + wait.user;
  if (!wait.application.empty()) text += " (" + wait.application + ")";
  return text + " holds; end that transaction: select pg_terminate_backend(" + pid + ")";
}

}  // namespace lockstep
