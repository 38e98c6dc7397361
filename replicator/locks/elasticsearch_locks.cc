#include "replicator/locks/elasticsearch_locks.h"

#include <algorithm>
#include <utility>

#include "replicator/elasticsearch/error_reply.h"
#include "replicator/elasticsearch/json_fields.h"
#include "replicator/elasticsearch/text_encoding.h"
#include "replicator/locks/lock_json.h"
#include "replicator/locks/lock_scripts.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int kBadRequest = 400;
/// Locks whose own leases are renewed with the journal entry, so that a refusal says until when without a
/// second question. Of more locks only the journal tells.
constexpr std::size_t kMaxRenewedLocks = 64;

json index_body(json properties) {
  return {{"settings",
           {{"number_of_shards", 1},
            {"auto_expand_replicas", "0-2"},
            {"refresh_interval", "-1"},
            {"translog.durability", "request"}}},
          {"mappings",
           {{"_meta", {{"lockstep", {{"locks", 1}}}}},
            {"dynamic", false},
            {"properties", std::move(properties)}}}};
}

json locks_body() {
  return index_body({{"lock_type", {{"type", "keyword"}}},
                     {"lock_count", {{"type", "integer"}}},
                     {"process_id", {{"type", "keyword"}}},
                     {"holders", {{"type", "object"}, {"enabled", false}}},
                     {"want", {{"type", "object"}, {"enabled", false}}}});
}

json journal_body() {
  return index_body({{"kind", {{"type", "keyword"}}},
                     {"state", {{"type", "keyword"}}},
                     {"owner", {{"type", "keyword"}}},
                     {"lease_until", {{"type", "long"}}},
                     {"locks", {{"type", "object"}, {"enabled", false}}}});
}

constexpr int kTries = 10;

Error busy_error(const LockName& name) {
  return Error({"breaking the lock " + name.text(), "others take and join it meanwhile", "try again",
                Retry::kLater, Server::kElasticsearch});
}

LockSet with(LockSet locks, LockRequest request) {
  locks.push_back(std::move(request));
  return lock_set(std::move(locks));
}

}  // namespace

LockIndices lock_indices(const std::string& index) {
  constexpr std::string_view kEnd = "-locks";
  const bool ends = index.size() > kEnd.size() && index.ends_with(kEnd);
  return {index, (ends ? index.substr(0, index.size() - kEnd.size()) : index) + "-journal"};
}

ElasticsearchLocks::ElasticsearchLocks(std::unique_ptr<HttpTransport> transport, LockIndices indices,
                                       std::chrono::milliseconds lease,
                                       std::chrono::milliseconds request_timeout)
    : client_(std::move(transport), request_timeout),
      indices_(std::move(indices)),
      lease_(lease),
      self_(new_operation_id()) {}

void ElasticsearchLocks::prepare() {
  const Painless painless = install_lock_scripts(client_);
  require_index(indices_.locks, locks_body());
  require_index(indices_.journal, journal_body());
  documents_ = painless == Painless::kHere ? scripted_lock_documents(client_, indices_.locks)
                                           : plain_lock_documents(client_, indices_.locks);
  journal_ = std::make_unique<ElasticsearchJournal>(client_, indices_.journal, painless, lease_);
}

void ElasticsearchLocks::require_index(const std::string& index, const json& body) {
  std::vector<IndexState> found = client_.indices_of(index);
  if (found.empty()) {
    const std::string doing = "creating index " + index;
    const HttpResponse response =
        client_.send(doing, "PUT", "/" + percent_encoded(index), body.dump(), {kBadRequest});
    // Somebody else may have been faster.
    if (response.status == kBadRequest &&
        read_error_reply(response.body).type != "resource_already_exists_exception") {
      throw reply_error(doing, response);
    }
    found = client_.indices_of(index);
  }
  const std::string doing = "using index " + index + " for locks";
  const bool ours =
      found.size() == 1 && object_at(object_at(found[0].mappings, "_meta"), "lockstep").contains("locks");
  if (!ours) throw Error({doing, "lockstep has not made it", "choose another name for [locks] index"});
  if (text_at(found[0].settings, "index.number_of_shards") != "1") {
    throw Error({doing, "it has more than one shard, so that its sequence numbers do not order operations",
                 "delete it while nobody holds a lock"});
  }
}

ServerTime ElasticsearchLocks::now() {
  return read_server_time(client_);
}

Operation ElasticsearchLocks::open(const OperationIntent& intent, LockSet locks) {
  Operation operation;
  operation.id = new_operation_id();
  operation.intent = intent;
  operation.locks = lock_set(std::move(locks));
  journal_->open(operation);
  return operation;
}

std::optional<Refusal> ElasticsearchLocks::try_acquire(const Operation& operation,
                                                       std::chrono::milliseconds mark) {
  std::optional<Refusal> refusal = documents_->acquire(operation.locks, {operation.id, lease_, mark});
  if (refusal) {
    documents_->release(operation.locks, {.holder = operation.id, .keep_mark = mark.count() > 0});
  }
  return refusal;
}

std::optional<Refusal> ElasticsearchLocks::try_extend(Operation& operation, const LockRequest& request) {
  Operation changed = operation;
  changed.locks = with(operation.locks, request);
  if (changed.locks != operation.locks) journal_->step(operation, changed);
  return documents_->acquire({request}, {operation.id, lease_, std::chrono::milliseconds(0)});
}

void ElasticsearchLocks::downgrade(const Operation& operation, const LockName& name) {
  documents_->downgrade(name, operation.id);
}

void ElasticsearchLocks::renew(Operation& operation) {
  journal_->step(operation, operation);
  if (operation.locks.size() <= kMaxRenewedLocks) documents_->renew(operation.locks, operation.id, lease_);
}

void ElasticsearchLocks::commit(Operation& operation) {
  Operation changed = operation;
  changed.state = OperationState::kRunning;
  journal_->step(operation, changed);
}

void ElasticsearchLocks::record(Operation& operation) {
  journal_->step(operation, operation);
}

void ElasticsearchLocks::finish(Operation& operation, OperationState outcome, const std::string& reason) {
  Operation changed = operation;
  changed.state = outcome;
  changed.reason = reason;
  journal_->step(operation, changed);
}

void ElasticsearchLocks::release(const Operation& operation) {
  documents_->release(operation.locks, {.holder = operation.id});
  if (operation.resolved() && !operation.needs_roll_forward()) journal_->erase(operation);
}

Resolution ElasticsearchLocks::resolve(const std::string& holder, const std::optional<LockName>& lock,
                                       Adoption adoption) {
  const std::optional<Operation> found = journal_->find(holder);
  if (!found)
    return lock ? resolve_without_entry(holder, *lock) : Resolution{Resolution::Kind::kGone, {}, {}};
  Resolution resolution = journal_->seize(*found, self_, adoption);
  if (resolution.kind == Resolution::Kind::kGone) {
    // The lock where it was met is among them, unless it was taken after the entry was last written.
    Operation over = *resolution.operation;
    if (lock) over.locks = with(over.locks, {*lock, LockMode::kShared});
    release(over);
    resolution.operation.reset();
  }
  return resolution;
}

Resolution ElasticsearchLocks::resolve_without_entry(const std::string& holder, const LockName& lock) {
  documents_->release({{lock, LockMode::kShared}}, {.holder = holder, .only_expired = true});
  const std::optional<LockState> state = find_lock(lock);
  if (state) {
    for (const LockHolder& each : state->holders) {
      if (each.id == holder) return {Resolution::Kind::kAlive, each.until, {}};
    }
  }
  return {Resolution::Kind::kGone, {}, {}};
}

std::optional<Operation> ElasticsearchLocks::find_operation(const std::string& id) {
  return journal_->find(id);
}

std::vector<Operation> ElasticsearchLocks::unresolved() {
  return journal_->unresolved();
}

void ElasticsearchLocks::prune(std::chrono::milliseconds age) {
  journal_->prune(age, now());
}

std::optional<LockState> ElasticsearchLocks::find_lock(const LockName& name) {
  const std::optional<StoredLock> stored = documents_->read(name);
  return stored ? stored->state : std::nullopt;
}

std::vector<LockState> ElasticsearchLocks::locks() {
  return documents_->all();
}

Broken ElasticsearchLocks::break_lock(const LockName& name, const std::string& by) {
  const std::optional<StoredLock> first = documents_->read(name);
  if (!first || !first->state) return Broken::kNotLocked;
  for (const LockHolder& holder : first->state->holders) {
    if (holder.until && break_holder(name, holder.id, by) == Broken::kNeedsRollForward)
      return Broken::kNeedsRollForward;
  }
  remove_nameless(name);
  return Broken::kReleased;
}

Broken ElasticsearchLocks::break_holder(const LockName& name, const std::string& holder,
                                        const std::string& by) {
  for (int tried = 0; tried < kTries; ++tried) {
    const std::optional<Operation> operation = journal_->find(holder);
    if (!operation) {
      documents_->release({{name, LockMode::kShared}}, {.holder = holder});
      return Broken::kReleased;
    }
    if (operation->state == OperationState::kRunning && operation->needs_roll_forward())
      return Broken::kNeedsRollForward;
    if (operation->resolved() || journal_->abort(*operation, self_, "its lock was broken by " + by)) {
      documents_->release(with(operation->locks, {name, LockMode::kShared}), {.holder = holder});
      return Broken::kReleased;
    }
  }
  throw busy_error(name);
}

void ElasticsearchLocks::remove_nameless(const LockName& name) {
  for (int tried = 0; tried < kTries; ++tried) {
    const std::optional<StoredLock> left = documents_->read(name);
    if (!left || !left->state) return;
    const auto named = std::count_if(left->state->holders.begin(), left->state->holders.end(),
                                     [](const LockHolder& holder) { return holder.until.has_value(); });
    if (left->state->count == named) return;  // somebody else has it by now
    if (named == 0 && documents_->remove(name, left->version)) return;
  }
  throw busy_error(name);
}

}  // namespace lockstep
