#include "replicator/locks/journal.h"

#include <utility>

namespace lockstep {
namespace {

std::string story_of(const std::string& id, const std::optional<Operation>& now) {
  std::string story = "the operation " + id;
  if (!now) return story + " is no longer in the journal";
  if (now->owner != id) story += " was taken over by " + now->owner;
  story += " and is " + std::string(text_of(now->state));
  if (!now->reason.empty()) story += ": " + now->reason;
  return story;
}

}  // namespace

void Journal::step(Operation& operation, const Operation& changed) {
  constexpr int kTries = 3;  // one lost answer explains one conflict; two in a row are unheard of
  JournalVersion expected = operation.version;
  for (int tried = 0;; ++tried) {
    std::optional<Operation> written = write(changed, expected);
    if (!written) {
      const std::optional<Operation> now = find(operation.id);
      const bool ours = now && now->owner == operation.owner && now->epoch == operation.epoch;
      if (!ours || tried == kTries || (now->resolved() && now->state != changed.state)) {
        throw LeaseLost(story_of(operation.id, now), !now || now->resolved());
      }
      expected = now->version;
      if (now->state != changed.state || operation.state == changed.state) continue;
      // An earlier request did it, and its answer was lost.
      written = changed;
      written->version = now->version;
      written->lease_until = now->lease_until;
      if (changed.state == OperationState::kRunning) {
        written->token = now->token;
        written->commit = now->commit;
      }
    }
    operation = std::move(*written);
    return;
  }
}

LeaseLost Journal::has_changed(const Operation& found) {
  return {"the operation " + found.id + " changed at the same time", false};
}

}  // namespace lockstep
