// Deletes the documents of an index that its view does not have: scans the index and looks each page up in
// the view. An interrupted sweep starts over: no process can continue the scan of another.
#pragma once

#include <memory>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/document_reader.h"
#include "replicator/pipeline/jobs/running_job.h"

namespace lockstep {

class Sweep final : public RunningJob {
 public:
  /// The references must outlive this.
  Sweep(Job job, const AppliedIndex& index, ElasticsearchClient& elasticsearch);

  void look_ahead(const PageLimits& limits) override;

 private:
  std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;
  void remove_stale(SourceTransaction& transaction, StepDocuments& documents, const PageLimits& limits);

  ElasticsearchClient& elasticsearch_;
  std::unique_ptr<DocumentScan> scan_;
  std::vector<FoundDocument> found_;  // the page
};

}  // namespace lockstep
