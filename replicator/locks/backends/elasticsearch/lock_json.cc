#include "replicator/locks/backends/elasticsearch/lock_json.h"

#include <algorithm>

#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/stored_object.h"
#include "replicator/locks/stored_value.h"

namespace lockstep {
namespace {

using nlohmann::json;

/// The book's clients write a number or a text.
std::string process_id(const json& source) {
  const auto found = source.find("process_id");
  if (found == source.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : dumped(*found);
}

LockName stored_name(const std::string& where, const std::string& field, const json& value) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty())
    throw unfit_value(where, field, stored_text_of(value), "the name of a lock");
  return LockName::as_stored(value.get<std::string>());
}

/// Every name counts: release() frees the names in the entry, and nothing else. A mode may be missing.
LockSet read_names(const StoredObject& locks) {
  for (const auto& mode : locks.fields().items()) {
    if (!lock_mode(mode.key())) throw unknown_value(locks.where(), "mode of locks", mode.key());
  }
  LockSet set;
  for (const LockMode mode : {LockMode::kShared, LockMode::kExclusive}) {
    const std::string field(text_of(mode));
    for (const json& name : locks.array_if_any(field))
      set.push_back({stored_name(locks.where(), locks.name_of(field), name), mode});
  }
  return lock_set(std::move(set));
}

std::string place_of_lock(const std::string& id) {
  return "the lock " + id;
}

/// Documents of the book's exclusive locks have no type.
LockMode read_mode(const std::string& name, const StoredObject& lock) {
  const std::optional<std::string> type = lock.text_if_any("lock_type");
  return type ? stored_mode(name, *type) : LockMode::kExclusive;
}

LockHolder waiting_holder(const StoredObject& place) {
  return {place.text("holder"), server_time(place.integer("until"))};
}

/// The mark of a Lockstep without queues, then the queue.
std::vector<LockHolder> waiting_at(const StoredObject& lock) {
  std::vector<LockHolder> waiting;
  if (const std::optional<StoredObject> want = lock.object_if_any("want"))
    waiting.push_back(waiting_holder(*want));
  for (const json& place : lock.array_if_any("queue"))
    waiting.push_back(waiting_holder(StoredObject(lock.where(), place, lock.name_of("queue"))));
  return waiting;
}

/// Holders of the book's format are not among them.
std::vector<LockHolder> read_holders(const StoredObject& lock) {
  std::vector<LockHolder> holders;
  const std::optional<StoredObject> stored = lock.object_if_any("holders");
  if (!stored) return holders;
  for (const auto& holder : stored->fields().items()) {
    const StoredObject fields = stored->object(holder.key());
    if (const std::optional<std::string> mode = fields.text_if_any("mode"); mode && !lock_mode(*mode))
      throw unknown_value(lock.where(), fields.name_of("mode"), *mode);
    holders.push_back({holder.key(), server_time(fields.integer("until"))});
  }
  return holders;
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
  return shortened_name(name, kMaxIdBytes);
}

std::optional<LockState> read_lock(const std::string& id, const json& source) {
  const StoredObject lock(place_of_lock(id), source);
  const std::string name = lock.text_if_any("name").value_or("");
  LockState state{stored_name(lock.where(), "name", name.empty() ? id : name)};
  state.mode = read_mode(state.name.text(), lock);
  const bool shared = state.mode == LockMode::kShared;
  state.holders = read_holders(lock);
  const auto named = static_cast<std::int64_t>(state.holders.size());
  state.count = shared ? std::max(lock.integer_if_any("lock_count").value_or(0), named) : 1;
  if (named == 0 && !shared) state.holders.push_back({process_id(source), std::nullopt});
  state.waiting = waiting_at(lock);
  if (state.count == 0) return std::nullopt;
  return state;
}

std::vector<LockHolder> read_waiting(const std::string& id, const json& source) {
  return waiting_at(StoredObject(place_of_lock(id), source));
}

json locks_json(const LockSet& locks) {
  json names = {{"shared", json::array()}, {"exclusive", json::array()}};
  for (const LockRequest& request : locks)
    names[std::string(text_of(request.mode))].push_back(request.name.text());
  return names;
}

std::string place_of_operation(const std::string& id) {
  return "the operation " + id;
}

ServerTime read_lease(const std::string& id, const json& source) {
  return server_time(StoredObject(place_of_operation(id), source).integer("lease_until"));
}

Operation read_operation(const std::string& id, const json& source, JournalVersion version) {
  const StoredObject entry(place_of_operation(id), source);
  Operation operation;
  operation.id = id;
  operation.intent = {stored_kind(id, entry.text("kind")), entry.text_if_any("from").value_or(""),
                      entry.text_if_any("to").value_or(""), entry.text_if_any("target").value_or("")};
  operation.locks = read_names(entry.object("locks"));
  operation.state = stored_state(id, entry.text("state"));
  operation.owner = entry.text("owner");
  operation.epoch = entry.integer("epoch");
  operation.lease_until = server_time(entry.integer("lease_until"));
  // The commit's own write cannot know its sequence number; every later write stores it. Before Lockstep drew
  // tokens, that number was the token, too.
  const bool running = operation.state == OperationState::kRunning;
  operation.commit = entry.integer_if_any("commit").value_or(running ? version.number : 0);
  operation.token = entry.integer_if_any("token").value_or(operation.commit);
  operation.task = entry.text_if_any("task").value_or("");
  operation.progress = entry.integer_if_any("progress").value_or(0);
  operation.reason = entry.text_if_any("reason").value_or("");
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
