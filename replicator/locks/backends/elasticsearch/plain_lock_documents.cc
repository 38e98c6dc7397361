// Exclusive locks on engines without painless: the new holder of the lock creates its document, and deletes
// it only in the version that it has read. Shared locks would have to count, which needs a script.
#include <algorithm>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/locks/backends/elasticsearch/bulk_call.h"
#include "replicator/locks/backends/elasticsearch/lock_documents.h"
#include "replicator/locks/backends/elasticsearch/lock_json.h"

namespace lockstep {
namespace {

using nlohmann::json;

json condition(JournalVersion version) {
  return {{"if_seq_no", version.number}, {"if_primary_term", version.term}};
}

std::optional<ServerTime> lease_of(const StoredLock& lock, const std::string& holder) {
  if (!lock.state) return std::nullopt;
  for (const LockHolder& each : lock.state->holders) {
    if (each.id == holder) return each.until;
  }
  return std::nullopt;
}

class PlainLockDocuments final : public LockDocuments {
 public:
  using LockDocuments::LockDocuments;

  std::optional<Refusal> acquire(const LockSet& locks, const Grant& grant) override {
    const std::string doing = "taking locks";
    for (const LockRequest& request : locks) {
      if (request.mode == LockMode::kShared) throw needs_painless("the shared lock " + request.name.text());
    }
    const ServerTime now = read_server_time(client());
    BulkCall bulk(index());
    for (const LockRequest& request : locks) {
      json document = {
          {"lock_type", "exclusive"},
          {"lock_count", 1},
          {"process_id", grant.holder},
          {"holders", {{grant.holder, {{"until", milliseconds_of(now + grant.lease)}, {"calls", 1}}}}}};
      if (is_shortened(request.name)) document["name"] = request.name.text();
      bulk.add("create", document_id(request.name), json::object(), document);
    }
    const std::vector<BulkOutcome> outcomes = bulk.send(client(), doing);
    for (std::size_t i = 0; i < locks.size(); ++i) {
      if (outcomes[i].status != kConflict) continue;
      const std::optional<StoredLock> there = read(locks[i].name);
      if (there && lease_of(*there, grant.holder)) continue;  // re-entrant
      const bool nested = there && std::any_of(grant.under.begin(), grant.under.end(),
                                               [&](const std::string& id) { return lease_of(*there, id); });
      if (nested) continue;
      LockState state =
          there && there->state ? *there->state : LockState{locks[i].name, LockMode::kExclusive};
      return Refusal{std::move(state), now};
    }
    return std::nullopt;
  }

  /// There are no queues.
  void give_back(const LockSet& locks, const LockName&, const Grant& grant) override {
    release(locks, {.holder = grant.holder});
  }

  void release(const LockSet& locks, const Leave& leave) override {
    const std::optional<ServerTime> now =
        leave.only_expired ? std::optional(read_server_time(client())) : std::nullopt;
    for_each_of(locks, leave.holder, "releasing locks",
                [&](BulkCall& bulk, const std::string& id, const StoredLock& lock, ServerTime until) {
                  if (!now || until < *now) bulk.add("delete", id, condition(lock.version), nullptr);
                });
  }

  void downgrade(const LockName& name, const std::string&) override {
    throw needs_painless("the shared lock " + name.text());
  }

  std::optional<LockName> renew(const LockSet& locks, const std::string& holder,
                                std::chrono::milliseconds lease) override {
    const ServerTime now = read_server_time(client());
    return for_each_of(locks, holder, "renewing locks",
                       [&](BulkCall& bulk, const std::string& id, const StoredLock& lock, ServerTime) {
                         json document = lock.source;
                         document["holders"][holder]["until"] = milliseconds_of(now + lease);
                         bulk.add("index", id, condition(lock.version), document);
                       });
  }

 private:
  static Error needs_painless(const std::string& what) {
    return Error({"taking " + what, "this engine does not run stored painless scripts",
                  "use --global, --document or --exclusive, or an engine with painless"});
  }

  /// Calls `add` for each lock that the holder has, from the last to the first, and sends the bulk. Returns a
  /// lock that the holder does not have. A lock that changes meanwhile does no harm: only its holder and that
  /// one's resolver change it.
  template <class Add>
  std::optional<LockName> for_each_of(const LockSet& locks, const std::string& holder,
                                      const std::string& doing, const Add& add) {
    std::vector<std::string> ids;
    for (auto request = locks.rbegin(); request != locks.rend(); ++request)
      ids.push_back(document_id(request->name));
    std::optional<LockName> missing;
    if (ids.empty()) return missing;
    const std::vector<std::optional<StoredLock>> stored = read_all(ids);
    BulkCall bulk(index());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::optional<ServerTime> until =
          stored[i] ? lease_of(*stored[i], holder) : std::optional<ServerTime>();
      if (until) {
        add(bulk, ids[i], *stored[i], *until);
      } else {
        missing = locks[ids.size() - 1 - i].name;
      }
    }
    bulk.send(client(), doing);
    return missing;
  }
};

}  // namespace

std::unique_ptr<LockStore> plain_lock_documents(ElasticsearchClient& client, std::string index) {
  return std::make_unique<PlainLockDocuments>(client, std::move(index));
}

}  // namespace lockstep
