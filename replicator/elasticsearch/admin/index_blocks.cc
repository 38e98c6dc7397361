#include "replicator/elasticsearch/admin/index_blocks.h"

#include "replicator/elasticsearch/transport/json_fields.h"

namespace lockstep {

void require_writable(const std::string& doing, const IndexState& index, Retry retry) {
  constexpr const char* kFullDisk = "index.blocks.read_only_allow_delete";
  std::string set;
  std::string remedy;
  for (const char* block : {kFullDisk, "index.blocks.read_only", "index.blocks.write"}) {
    if (text_at(index.settings, block) != "true") continue;
    set += (set.empty() ? "" : " and ") + std::string(block);
    remedy += remedy.empty() ? "" : "; ";
    remedy += (block == kFullDisk ? "free disk space; the block then ends by itself, or set " : "set ") +
              std::string(block) + " to null";
  }
  if (set.empty()) return;
  throw Error({doing, "index " + index.name + " is read-only: it has " + set, remedy, retry,
               retry == Retry::kLater ? Server::kElasticsearch : Server::kNone});
}

}  // namespace lockstep
