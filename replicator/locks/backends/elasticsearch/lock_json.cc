#include "replicator/locks/backends/elasticsearch/lock_json.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/locks/stored_value.h"

namespace lockstep {
namespace {

using nlohmann::json;

/// FNV-1a of 64 bits (Fowler, Noll, Vo).
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// The book's clients write a number or a text.
std::string process_id(const json& source) {
  const auto found = source.find("process_id");
  if (found == source.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : dumped(*found);
}

void read_names(const json& locks, LockMode mode, LockSet& set) {
  const auto found = locks.find(std::string(text_of(mode)));
  if (found == locks.end() || !found->is_array()) return;
  for (const json& name : *found) {
    if (name.is_string() && !name.get_ref<const std::string&>().empty())
      set.push_back({LockName(name.get<std::string>()), mode});
  }
}

/// Documents of the book's exclusive locks have no type.
LockMode read_mode(const std::string& name, const json& source) {
  const auto type = source.find("lock_type");
  if (type == source.end() || type->is_null()) return LockMode::kExclusive;
  return stored_mode(name, type->is_string() ? type->get<std::string>() : dumped(*type));
}

std::optional<LockHolder> read_mark(const json& source) {
  const json want = object_at(source, "want");
  if (want.empty()) return std::nullopt;
  return LockHolder{text_at(want, "holder"), server_time(integer_at(want, "until").value_or(0))};
}

}  // namespace

JournalVersion version_of(const json& reply) {
  return {integer_at(reply, "_seq_no").value_or(0), integer_at(reply, "_primary_term").value_or(0)};
}

ServerTime server_time(std::int64_t milliseconds) {
  return ServerTime(std::chrono::milliseconds(milliseconds));
}

std::int64_t milliseconds_of(ServerTime time) {
  return time.time_since_epoch().count();
}

bool is_shortened(const LockName& name) {
  return name.text().size() > kMaxIdBytes;
}

std::string document_id(const LockName& name) {
  if (!is_shortened(name)) return name.text();
  std::array<char, 24> hash{};
  std::snprintf(hash.data(), hash.size(), "#%016llx", static_cast<unsigned long long>(hash_of(name.text())));
  std::size_t end = kMaxIdBytes - 17;
  while (end > 0 && (static_cast<unsigned char>(name.text()[end]) & 0xC0) == 0x80) --end;
  return name.text().substr(0, end) + hash.data();
}

std::optional<LockState> read_lock(const std::string& id, const json& source) {
  const std::string name = text_at(source, "name");
  LockState state{LockName(name.empty() ? id : name)};
  state.mode = read_mode(state.name.text(), source);
  const bool shared = state.mode == LockMode::kShared;
  const json holders = object_at(source, "holders");
  for (const auto& holder : holders.items()) {
    state.holders.push_back({holder.key(), server_time(integer_at(holder.value(), "until").value_or(0))});
  }
  const auto named = static_cast<std::int64_t>(state.holders.size());
  state.count = shared ? std::max(integer_at(source, "lock_count").value_or(0), named) : 1;
  if (named == 0 && !shared) state.holders.push_back({process_id(source), std::nullopt});
  state.waiting = read_mark(source);
  if (state.count == 0) return std::nullopt;
  return state;
}

json locks_json(const LockSet& locks) {
  json names = {{"shared", json::array()}, {"exclusive", json::array()}};
  for (const LockRequest& request : locks)
    names[std::string(text_of(request.mode))].push_back(request.name.text());
  return names;
}

Operation read_operation(const std::string& id, const json& source, JournalVersion version) {
  Operation operation;
  operation.id = id;
  operation.intent = {stored_kind(id, text_at(source, "kind")), text_at(source, "from"),
                      text_at(source, "to"), text_at(source, "target")};
  const json locks = object_at(source, "locks");
  for (const LockMode mode : {LockMode::kShared, LockMode::kExclusive}) {
    read_names(locks, mode, operation.locks);
  }
  operation.locks = lock_set(std::move(operation.locks));
  operation.state = stored_state(id, text_at(source, "state"));
  operation.owner = text_at(source, "owner");
  operation.epoch = integer_at(source, "epoch").value_or(1);
  operation.lease_until = server_time(integer_at(source, "lease_until").value_or(0));
  // The commit's own write cannot know its sequence number; every later write stores it.
  const bool running = operation.state == OperationState::kRunning;
  operation.commit = integer_at(source, "token").value_or(running ? version.number : 0);
  operation.task = text_at(source, "task");
  operation.progress = integer_at(source, "progress").value_or(0);
  operation.reason = text_at(source, "reason");
  operation.version = version;
  return operation;
}

json entry_json(const Operation& operation) {
  return {{"kind", operation.intent.kind}, {"from", operation.intent.from},
          {"to", operation.intent.to},     {"target", operation.intent.target},
          {"owner", operation.owner},      {"locks", locks_json(operation.locks)},
          {"progress", operation.progress}};
}

}  // namespace lockstep
