// Which documents the tail has deleted since a page of a job was read that is not on its way yet (W6).
#pragma once

#include <map>
#include <utility>

#include "replicator/elasticsearch/bulk/bulk_request.h"

namespace lockstep {

class TailDeletions {
 public:
  /// From now on deletions are noted, or they are not and those noted are forgotten.
  void begin() { is_noting_ = true; }
  void end();

  /// Notes the deletions of a request of the tail.
  void note(const BulkRequest& request);

  bool empty() const { return deleted_.empty(); }

  /// Whether a deletion of the item's document with a greater version is noted.
  bool has_newer(const BulkItem& item) const;

  /// Whether so many are noted that the tail has to wait: they are kept in memory.
  bool is_full() const;

 private:
  using Document = std::pair<IndexId, DocumentId>;

  bool is_noting_ = false;
  std::map<Document, DocumentVersion> deleted_;
};

}  // namespace lockstep
