// The lock documents of one index: taking, giving back and reading single locks. Two forms of it: by stored
// scripts on engines that have painless, and by conditional writes alone on those that have not, which
// suffices for exclusive locks.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/lock_store.h"

namespace lockstep {

/// A lock document as it is stored, with where it stands for a conditional delete.
struct StoredLock {
  std::optional<LockState> state;  ///< none: nobody holds it
  nlohmann::json source;
  JournalVersion version;
};

/// The clock of the elected master, for what no script can tell. Needs the cluster privilege `monitor`.
ServerTime read_server_time(ElasticsearchClient& client);

/// For both forms: reading and removing, which needs no script, and a set as many single locks.
class LockDocuments : public LockStore {
 public:
  LockDocuments(ElasticsearchClient& client, std::string index);

  ServerTime now() override;
  std::optional<Refusal> acquire_all(const LockSet& locks, const Grant& grant) override;
  std::optional<Refusal> acquire_one(const LockRequest& request, const Grant& grant) override;
  std::optional<LockState> find(const LockName& name) override;
  std::vector<LockState> all() override;
  void remove_nameless(const LockName& name) override;
  void prune() override {}

 protected:
  /// Asks for each, in order; the first that was refused, or none. Others may have been taken, before it and
  /// behind it. Throws Error, a final one for a shared lock where the engine has no scripts.
  virtual std::optional<Refusal> acquire(const LockSet& locks, const Grant& grant) = 0;

  /// Reads what has been written, refreshed or not; none: no document.
  std::optional<StoredLock> read(const LockName& name);
  /// One reading for many names, in order.
  std::vector<std::optional<StoredLock>> read_all(const std::vector<std::string>& ids);
  ElasticsearchClient& client() { return client_; }
  const std::string& index() const { return index_; }

 private:
  /// Deletes a document as it was read; false when it has changed since.
  bool remove(const LockName& name, JournalVersion version);

  ElasticsearchClient& client_;
  std::string index_;
};

/// `client` must outlive them.
std::unique_ptr<LockStore> scripted_lock_documents(ElasticsearchClient& client, std::string index);
std::unique_ptr<LockStore> plain_lock_documents(ElasticsearchClient& client, std::string index);

}  // namespace lockstep
