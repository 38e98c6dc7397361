// The lock documents of one index, in two forms: with stored scripts if the engine has painless, and with
// conditional writes alone if it does not, which suffices for exclusive locks.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/lock_store.h"

namespace lockstep {

/// A lock document as it is stored, with its version for a conditional write.
struct StoredLock {
  std::optional<LockState> state;  ///< none if it has no holder
  nlohmann::json source;
  JournalVersion version;
};

/// The clock of the elected master, for engines whose scripts have no clock. Needs the cluster privilege
/// `monitor`.
ServerTime read_server_time(ElasticsearchClient& client);

/// The common part of both forms: reading and removing, which need no script, and a set of locks as many
/// single ones.
class LockDocuments : public LockStore {
 public:
  LockDocuments(ElasticsearchClient& client, std::string index);

  ServerTime now() override;
  std::optional<Refusal> acquire_all(const LockSet& locks, const Grant& grant) override;
  std::optional<Refusal> acquire_again(const LockSet& locks, const LockName& at, const Grant& grant) override;
  std::optional<Refusal> acquire_one(const LockRequest& request, const Grant& grant) override;
  std::optional<LockState> find(const LockName& name) override;
  std::vector<LockState> all(const Unreadable& unreadable) override;
  void remove_nameless(const LockName& name) override;
  void prune() override {}

 protected:
  /// Asks for each lock, in order. Returns the first refusal, if any; the locks before and behind it may be
  /// taken then. Throws Error, a final one for a shared lock if the engine has no scripts.
  virtual std::optional<Refusal> acquire(const LockSet& locks, const Grant& grant) = 0;
  /// Undoes an acquire() that was refused `at` a lock, but for places in queues.
  virtual void give_back(const LockSet& locks, const LockName& at, const Grant& grant) = 0;

  /// Reads a document, refreshed or not; none if there is none.
  std::optional<StoredLock> read(const LockName& name);
  /// Reads many in one request, in order.
  std::vector<std::optional<StoredLock>> read_all(const std::vector<std::string>& ids,
                                                  const Unreadable& unreadable = refuse_unreadable);
  ElasticsearchClient& client() { return client_; }
  const std::string& index() const { return index_; }

 private:
  /// Deletes a document; false if it is no longer in this version.
  bool remove(const LockName& name, JournalVersion version);

  ElasticsearchClient& client_;
  std::string index_;
};

/// `client` must outlive them.
std::unique_ptr<LockStore> scripted_lock_documents(ElasticsearchClient& client, std::string index);
std::unique_ptr<LockStore> plain_lock_documents(ElasticsearchClient& client, std::string index);

}  // namespace lockstep
