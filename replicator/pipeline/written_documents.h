// Which version of documents Elasticsearch has acknowledged lately, so that what became due before need not
// be written once more (U2, source/outbox/due.h).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>

#include "replicator/document_version.h"
#include "replicator/ids.h"
#include "replicator/mutex.h"

namespace lockstep {

/// For any thread.
class WrittenDocuments {
 public:
  /// Of so many it remembers each, and of no more than twice as many any.
  static constexpr std::size_t kRemembered = 16'384;

  /// Elasticsearch has this version of the document, or a newer one of ours.
  void add(IndexId index, const DocumentId& id, DocumentVersion version);

  /// Whether Elasticsearch has the document under `version` or a greater one. False: that is not known.
  bool has(IndexId index, const DocumentId& id, DocumentVersion version) const;

 private:
  using Versions = std::map<IndexId, std::unordered_map<std::string, DocumentVersion>>;

  static bool has(const Versions& versions, IndexId index, const DocumentId& id, DocumentVersion version);

  mutable Mutex mutex_;
  Versions latest_ LOCKSTEP_GUARDED_BY(mutex_);
  Versions before_ LOCKSTEP_GUARDED_BY(mutex_);         // until latest_ took its place
  std::size_t number_ LOCKSTEP_GUARDED_BY(mutex_) = 0;  // of documents in latest_
};

}  // namespace lockstep
