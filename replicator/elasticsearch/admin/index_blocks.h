// Blocks in the settings of an index, which keep writes out of it: Elasticsearch sets one when a disk is
// nearly full, people set others.
#pragma once

#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/error.h"

namespace lockstep {

/// Throws an Error of this kind if a block in its settings keeps writes out of the index. It names the blocks
/// and the remedy. The settings do not show a block of the whole cluster.
void require_writable(const std::string& doing, const IndexState& index, Retry retry);

}  // namespace lockstep
