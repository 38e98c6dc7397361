// The PostgreSQL servers of a run: a primary, perhaps a replica that follows it, perhaps a copy of its files.
// The primary can be crashed, replaced by the replica or put back to the copy; it has another address then.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/servers.h"
#include "tests/support/tcp_proxy.h"

namespace lockstep::chaos {

class SourceServers {
 public:
  /// Starts a primary in `folder`/postgresql, or takes over the one that runs there.
  explicit SourceServers(std::filesystem::path folder);
  ~SourceServers();
  SourceServers(const SourceServers&) = delete;
  SourceServers& operator=(const SourceServers&) = delete;

  /// Of the primary as it is now.
  const support::HostAndPort& address() const { return primary_.address; }

  /// Ends the primary without a checkpoint and starts it again at the same address.
  void crash();

  /// Copies the running primary's files, as a backup does; replaces the copy before.
  void take_copy();
  bool has_copy() const { return copy_.has_value(); }
  /// Ends the primary as a crash does and goes on with the copy. There is no copy and no replica afterwards.
  enum class Return {
    kFiles,     ///< as if the files had never been anything else: on the same timeline
    kRecovery,  ///< as PostgreSQL recovers a backup: on a timeline of its own
  };
  void put_copy_back(Return how);

  /// Makes a replica of the primary and starts it; replaces the one before.
  void start_replica();
  bool has_replica() const { return replica_.has_value(); }
  /// What the primary commits from now on doesn't reach the replica.
  void hold_replication() { replication_.stall(); }
  /// Ends the primary as a crash does and promotes the replica. There is no replica afterwards.
  void promote_replica();

 private:
  struct Server {
    std::filesystem::path folder;
    support::HostAndPort address;
  };

  std::filesystem::path new_folder();
  // pg_basebackup into a folder from which scripts/postgresql can start a server.
  std::filesystem::path base_backup(const std::vector<std::string>& options, int port);
  static Server start(const std::filesystem::path& folder);
  static void drop(const std::filesystem::path& folder);

  const std::filesystem::path folder_;
  int folders_ = 1;
  Server primary_;
  support::TcpProxy replication_;
  std::optional<Server> replica_;
  std::optional<std::filesystem::path> copy_;
};

}  // namespace lockstep::chaos
