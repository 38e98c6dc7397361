#include <array>
#include <cstdio>

#include "replicator/locks/lock_manager.h"

namespace lockstep {
namespace {

std::string seconds_text(std::chrono::milliseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(time.count()) / 1'000);
  return text.data();
}

std::string until_text(ServerTime until, ServerTime now) {
  if (until < now) return ", whose lease ran out " + seconds_text(now - until) + " ago";
  return " until " + text_of(until) + " (" + seconds_text(until - now) + " from now)";
}

std::string holder_text(const LockHolder& holder, ServerTime now) {
  if (!holder.until) {
    return (holder.id.empty() ? std::string("an unnamed holder") : "process " + holder.id) +
           " without a lease";
  }
  return holder.id + until_text(*holder.until, now);
}

}  // namespace

std::string text_of(const Refusal& refusal) {
  const LockState& lock = refusal.lock;
  std::string text = lock.name.text();
  if (refusal.queued && !lock.waiting.empty()) {
    return text + " is kept for " + holder_text(lock.waiting.front(), refusal.now);
  }
  text += lock.mode == LockMode::kExclusive ? " is locked exclusively" : " is shared";
  const char* separator = " by ";
  for (const LockHolder& holder : lock.holders) {
    text += separator + holder_text(holder, refusal.now);
    separator = ", ";
  }
  const std::int64_t nameless = lock.count - static_cast<std::int64_t>(lock.holders.size());
  if (nameless > 0) text += separator + std::to_string(nameless) + " without a name";
  if (!refusal.unfinished.empty()) {
    text += "; " + refusal.unfinished +
            " died in the middle of a change of the tree: `lockstep tree recover` finishes it";
  }
  return text;
}

}  // namespace lockstep
