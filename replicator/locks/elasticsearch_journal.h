// The journal of operations as an index of one shard: its sequence numbers are the fencing tokens, so that a
// token exists exactly when a commit or an adoption does.
//
// Invariant J1: an entry is changed only under the sequence number under which it was read. A conflict is
//   followed by a reading: an entry that is still its owner's was changed by a request of the owner's own
//   whose answer was lost, any other means LeaseLost.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/client.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/locks/lock_scripts.h"

namespace lockstep {

class ElasticsearchJournal {
 public:
  /// `client` must outlive this. Without painless leases are reckoned from the clock of the elected master.
  ElasticsearchJournal(ElasticsearchClient& client, std::string index, Painless painless,
                       std::chrono::milliseconds lease);

  /// Writes a pending entry; sets owner, lease and version. Idempotent for the same id.
  void open(Operation& operation);

  /// Writes `changed`, a copy of `operation` with other state, task, progress, reason or locks, and a new
  /// lease; `operation` becomes what was written. A token is the version's number when the state becomes
  /// running. Throws LeaseLost.
  void step(Operation& operation, const Operation& changed);

  /// LockManager::resolve() as far as the journal is concerned; kGone for an entry that is resolved, with the
  /// entry in `operation`. REQUIRES: `found` was just read. Throws LeaseLost when it has changed since.
  Resolution seize(const Operation& found, const std::string& by, Adoption adoption);

  /// Makes an unresolved entry aborted whatever its lease. False when it has changed since it was read.
  bool abort(const Operation& found, const std::string& by, const std::string& reason);

  std::optional<Operation> find(const std::string& id);

  /// Up to 10,000 pending and running entries, those with the oldest leases.
  std::vector<Operation> unresolved();

  /// Removes one entry as it was read; nothing happens when it has changed since.
  void erase(const Operation& operation);

  /// Removes entries that were resolved before `age` ago.
  void prune(std::chrono::milliseconds age, ServerTime now);

 private:
  std::string document_path(const std::string& id, const char* endpoint, JournalVersion version) const;
  /// The entry as it was written; none for a conflict.
  std::optional<Operation> write(const Operation& changed, JournalVersion expected);
  Resolution seize_plainly(const Operation& found, const std::string& by, Adoption adoption);
  nlohmann::json search(const nlohmann::json& query, std::size_t size);

  ElasticsearchClient& client_;
  const std::string index_;
  const Painless painless_;
  const std::chrono::milliseconds lease_;
};

}  // namespace lockstep
