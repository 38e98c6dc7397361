// Gathers the documents of one step into bulk requests: the writes, the deletes, and the documents that
// cannot be written and become dead letters at once.
//
// W2. Within a step, deletes under old routings have a lower version than the writes. If both reach the same
//     shard, a repeated delete does not undo the write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/source/applied.h"
#include "replicator/source/outbox/acknowledged.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

struct StepSize {
  std::size_t documents = 0;
  std::size_t json_bytes = 0;
  std::size_t bytes = 0;  ///< of its requests: JSON and action lines
};

/// The documents of one step, rendered from one snapshot.
class StepDocuments {
 public:
  /// `counter` belongs to the transaction; the step's versions are made of it. A request that has reached
  /// `bulk_bytes` is closed.
  StepDocuments(Epoch epoch, std::int64_t counter, std::size_t bulk_bytes);

  /// The version of the step's writes.
  DocumentVersion version() const { return write_version_; }

  /// Writes the document, or deletes it when the view does not have it.
  void add(const AppliedIndex& index, const RenderedDocument& document);

  /// Deletes the document under the routing under which it was found.
  void remove(const AppliedIndex& index, const FoundDocument& document);

  /// Makes a dead letter of a document that an earlier step has written, and that Elasticsearch gives back
  /// otherwise.
  void note_not_kept(const AppliedIndex& index, const FoundDocument& document);

  const StepSize& size() const { return size_; }

 private:
  friend class DocumentWriter;

  BulkRequest& open_request(IndexId index);
  /// Makes a dead letter of a document that cannot be written, instead of sending it.
  void refuse(const DocumentKey& document, const std::string& type, const std::string& reason);
  bool refuse_what_cannot_be_written(const DocumentKey& document, const RenderedDocument& rendered);

  DocumentVersion delete_version_;
  DocumentVersion write_version_;
  std::size_t bulk_bytes_;
  std::vector<BulkRequest> requests_;
  std::vector<DeadLetter> refused_;
  std::vector<AcknowledgedWrite> never_written_;
  StepSize size_;
};

}  // namespace lockstep
