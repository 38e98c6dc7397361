// The lock documents of one index: taking, giving back and reading single locks. Two forms of it: by stored
// scripts on engines that have painless, and by conditional writes alone on those that have not, which
// suffices for exclusive locks.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/client.h"
#include "replicator/locks/lock_manager.h"

namespace lockstep {

/// A lock document as it is stored, with where it stands for a conditional delete.
struct StoredLock {
  std::optional<LockState> state;  ///< none: nobody holds it
  nlohmann::json source;
  JournalVersion version;
};

class LockDocuments {
 public:
  virtual ~LockDocuments() = default;

  struct Grant {
    std::string holder;
    std::chrono::milliseconds lease;
    std::chrono::milliseconds mark;  ///< 0: none
  };

  /// Asks for each, in order; the first that was refused, or none. Others may have been taken, before it and
  /// behind it. Throws Error, a final one for a shared lock where the engine has no scripts.
  virtual std::optional<Refusal> acquire(const LockSet& locks, const Grant& grant) = 0;

  struct Leave {
    std::string holder;
    bool keep_mark = false;     ///< its waiting marks stay
    bool only_expired = false;  ///< it leaves only where its lease in the lock has run out
  };

  /// Takes a holder out of each, in the opposite order. Nothing changes where it is none.
  virtual void release(const LockSet& locks, const Leave& leave) = 0;

  virtual void downgrade(const LockName& name, const std::string& holder) = 0;

  /// Lets the leases in the locks begin anew, as far as they are the holder's.
  virtual void renew(const LockSet& locks, const std::string& holder, std::chrono::milliseconds lease) = 0;

  /// Reads what has been written, refreshed or not; none: no document.
  virtual std::optional<StoredLock> read(const LockName& name) = 0;

  /// All that are held.
  virtual std::vector<LockState> all() = 0;

  /// Deletes a document as it was read; false when it has changed since.
  virtual bool remove(const LockName& name, JournalVersion version) = 0;
};

/// The clock of the elected master, for what no script can tell. Needs the cluster privilege `monitor`.
ServerTime read_server_time(ElasticsearchClient& client);

/// `client` must outlive them.
std::unique_ptr<LockDocuments> scripted_lock_documents(ElasticsearchClient& client, std::string index);
std::unique_ptr<LockDocuments> plain_lock_documents(ElasticsearchClient& client, std::string index);

/// For both forms: reading and removing, which needs no script.
class StoredLockDocuments : public LockDocuments {
 public:
  StoredLockDocuments(ElasticsearchClient& client, std::string index);

  std::optional<StoredLock> read(const LockName& name) override;
  std::vector<LockState> all() override;
  bool remove(const LockName& name, JournalVersion version) override;

 protected:
  /// One reading for many names, in order.
  std::vector<std::optional<StoredLock>> read_all(const std::vector<std::string>& ids);
  ElasticsearchClient& client() { return client_; }
  const std::string& index() const { return index_; }

 private:
  ElasticsearchClient& client_;
  std::string index_;
};

}  // namespace lockstep
