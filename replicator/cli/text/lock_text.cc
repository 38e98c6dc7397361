#include "replicator/cli/text/lock_text.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "replicator/cli/text/json_text.h"
#include "replicator/one_line.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

using nlohmann::ordered_json;

std::string seconds_text(std::chrono::milliseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(time.count()) / 1'000);
  return text.data();
}

std::string until_text(ServerTime until, ServerTime now) {
  const std::string distance =
      until >= now ? "in " + seconds_text(until - now) : seconds_text(now - until) + " ago";
  return "until " + text_of(until) + " (" + distance + ")";
}

ordered_json json_of(const std::vector<LockHolder>& holders) {
  ordered_json all = ordered_json::array();
  for (const LockHolder& holder : holders) {
    all.push_back(
        {{"id", holder.id}, {"until", holder.until ? ordered_json(text_of(*holder.until)) : nullptr}});
  }
  return all;
}

}  // namespace

std::string lock_lines(const LockState& lock, ServerTime now) {
  const std::string head = in_one_line(lock.name.text()) + "  " + std::string(text_of(lock.mode)) + "  ";
  std::string lines;
  for (const LockHolder& holder : lock.holders) {
    lines += head + (holder.id.empty() ? "unnamed" : in_one_line(holder.id)) + "  " +
             (holder.until ? until_text(*holder.until, now) : "without a lease") + "\n";
  }
  const std::int64_t nameless = lock.count - static_cast<std::int64_t>(lock.holders.size());
  if (nameless > 0) lines += head + std::to_string(nameless) + " without a name  without a lease\n";
  for (const LockHolder& holder : lock.waiting)
    lines += head + "waits: " + in_one_line(holder.id) + "  " + until_text(*holder.until, now) + "\n";
  return lines;
}

std::string operation_line(const Operation& operation, ServerTime now) {
  std::string line = operation.id + "  " + operation.intent.kind;
  for (const std::string* part : {&operation.intent.from, &operation.intent.to, &operation.intent.target}) {
    if (!part->empty()) line += " " + *part;
  }
  line += "  " + std::string(text_of(operation.state));
  if (operation.token != 0) line += ", token " + std::to_string(operation.token);
  if (operation.progress != 0) line += ", " + grouped(operation.progress) + " done";
  if (operation.owner != operation.id) line += ", taken over by " + operation.owner;
  if (!operation.reason.empty()) line += ": " + operation.reason;
  return line + "  " + until_text(operation.lease_until, now) + "\n";
}

std::string lock_json_line(const LockState& lock, ServerTime now) {
  return json_text({{"record", "lock"},
                    {"now", text_of(now)},
                    {"name", lock.name.text()},
                    {"mode", text_of(lock.mode)},
                    {"count", lock.count},
                    {"holders", json_of(lock.holders)},
                    {"waiting", json_of(lock.waiting)}}) +
         "\n";
}

std::string operation_json_line(const Operation& operation, ServerTime now) {
  ordered_json names = ordered_json::array();
  for (const LockRequest& request : operation.locks) {
    names.push_back({{"name", request.name.text()}, {"mode", text_of(request.mode)}});
  }
  return json_text({{"record", "operation"},
                    {"now", text_of(now)},
                    {"operation", operation.id},
                    {"kind", operation.intent.kind},
                    {"from", operation.intent.from},
                    {"to", operation.intent.to},
                    {"target", operation.intent.target},
                    {"state", text_of(operation.state)},
                    {"owner", operation.owner},
                    {"epoch", operation.epoch},
                    {"until", text_of(operation.lease_until)},
                    {"token", operation.token},
                    {"progress", operation.progress},
                    {"reason", operation.reason},
                    {"locks", std::move(names)}}) +
         "\n";
}

}  // namespace lockstep
