// Which version of documents Elasticsearch has acknowledged lately, so that documents that became due before
// need not be written once more (U2, source/outbox/due.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/ids.h"
#include "replicator/mutex.h"

namespace lockstep {

/// For any thread.
class WrittenDocuments {
 public:
  /// Of so many documents at least, and of no more than twice as many. A document that is forgotten is only
  /// written once more.
  static constexpr std::size_t kRemembered = 8'192;

  /// Elasticsearch has this version of the document, or a newer one of ours.
  void add(IndexId index, const DocumentId& id, DocumentVersion version);

  /// Whether Elasticsearch has the document under `version` or a greater one. False: that is not known.
  bool has(IndexId index, const DocumentId& id, DocumentVersion version) const;

 private:
  struct Place {
    std::size_t slot;
    std::uint64_t document;  // another hash: two documents share both of them at odds of 1 in 2^78
  };
  struct Slot {
    std::uint64_t document = 0;
    DocumentVersion version;
  };

  static Place place_of(IndexId index, const DocumentId& id);

  mutable Mutex mutex_;
  std::vector<Slot> slots_ LOCKSTEP_GUARDED_BY(mutex_);  // none until the first write
};

}  // namespace lockstep
