// The lock manager whose locks and journal are documents of Elasticsearch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/client.h"
#include "replicator/locks/elasticsearch_journal.h"
#include "replicator/locks/lock_documents.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep {

struct LockIndices {
  std::string locks;    ///< "lockstep-locks"
  std::string journal;  ///< "lockstep-journal"
};

/// "lockstep-locks" → the same and "lockstep-journal"; "x" → "x" and "x-journal".
LockIndices lock_indices(const std::string& index);

class ElasticsearchLocks final : public LockManager {
 public:
  ElasticsearchLocks(std::unique_ptr<HttpTransport> transport, LockIndices indices,
                     std::chrono::milliseconds lease, std::chrono::milliseconds request_timeout);

  void prepare() override;
  std::chrono::milliseconds lease() const override { return lease_; }
  ServerTime now() override;
  Operation open(const OperationIntent& intent, LockSet locks) override;
  std::optional<Refusal> try_acquire(const Operation& operation, std::chrono::milliseconds mark) override;
  std::optional<Refusal> try_extend(Operation& operation, const LockRequest& request) override;
  void downgrade(const Operation& operation, const LockName& name) override;
  void renew(Operation& operation) override;
  void commit(Operation& operation) override;
  void record(Operation& operation) override;
  void finish(Operation& operation, OperationState outcome, const std::string& reason) override;
  void release(const Operation& operation) override;
  Resolution resolve(const std::string& holder, const std::optional<LockName>& lock,
                     Adoption adoption) override;
  std::optional<Operation> find_operation(const std::string& id) override;
  std::vector<Operation> unresolved() override;
  void prune(std::chrono::milliseconds age) override;
  std::optional<LockState> find_lock(const LockName& name) override;
  std::vector<LockState> locks() override;
  Broken break_lock(const LockName& name, const std::string& by) override;

 private:
  void require_index(const std::string& index, const nlohmann::json& body);
  Resolution resolve_without_entry(const std::string& holder, const LockName& lock);
  Broken break_holder(const LockName& name, const std::string& holder, const std::string& by);
  /// Ends what holders of the book's format have of a lock.
  void remove_nameless(const LockName& name);

  ElasticsearchClient client_;
  const LockIndices indices_;
  const std::chrono::milliseconds lease_;
  const std::string self_;  ///< how this one signs what it resolves

  // From prepare():
  std::unique_ptr<LockDocuments> documents_;
  std::unique_ptr<ElasticsearchJournal> journal_;
};

}  // namespace lockstep
