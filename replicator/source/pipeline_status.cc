#include "replicator/source/pipeline_status.h"

#include "replicator/warnings.h"

namespace lockstep {

std::string in_words(const LeadHolder& stranger) {
  if (stranger.pid == 0) return warning("lead_held", {"a prepared transaction", "see pg_prepared_xacts"});
  const std::string pid = std::to_string(stranger.pid);
  return warning("lead_held", {warning("session", {pid, stranger.user, stranger.application}),
                               "select pg_terminate_backend(" + pid + ")"});
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
