// The room on the disks of the nodes that hold data. Only reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

struct NodeDisk {
  std::string node;
  std::int64_t total = 0;      ///< bytes
  std::int64_t available = 0;  ///< bytes
  /// Below that the cluster moves shards away from the node (its high watermark), or may block its indices a
  /// little later. 0: the cluster has no watermark.
  std::int64_t kept_free = 0;
};

/// The nodes that hold data, by name. None: the user may not ask. Throws Error as the client does, and for a
/// watermark that it does not know.
std::optional<std::vector<NodeDisk>> disks_of_nodes(ElasticsearchClient& client);

/// The bytes that an index takes on all nodes, replicas included. None: the user may not ask.
std::optional<std::int64_t> stored_bytes(ElasticsearchClient& client, const std::string& index);

/// The nodes that would be beyond their watermark if each got its even share of so many bytes more.
std::vector<std::string> too_full_with(const std::vector<NodeDisk>& disks, std::int64_t bytes);

}  // namespace lockstep
