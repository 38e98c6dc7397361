// A page of documents, known by their ids, that is rendered over as many steps as its bytes need. The job's
// position moves behind the page when all of it is rendered.
#pragma once

#include <cstdint>

#include "replicator/pipeline/rendering.h"
#include "replicator/source/outbox/job.h"
#include "replicator/source/transaction.h"

namespace lockstep {

class PageInHand {
 public:
  /// Whether all documents of the page are rendered.
  bool rendered() const { return left_over_.empty(); }

  /// Takes the next page. REQUIRES: rendered().
  void take(DocumentIds ids, JobPosition behind, bool is_last);

  /// Renders about `bytes` of the page into `documents`; `sink` sees each document, too. Returns how many
  /// documents that were.
  std::int64_t render(SourceTransaction& transaction, const AppliedIndex& index, StepDocuments& documents,
                      std::int64_t bytes, const DocumentSink& sink = {});

  /// The position behind the page.
  const JobPosition& behind() const { return behind_; }

  /// Whether no further page follows.
  bool is_last() const { return is_last_; }

 private:
  Rendering rendering_;
  DocumentIds left_over_;
  JobPosition behind_;
  bool is_last_ = false;
};

}  // namespace lockstep
