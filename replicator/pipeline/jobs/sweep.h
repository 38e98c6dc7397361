// Deletes the documents of an index that its view does not have: scans the index and looks each page up in
// the view. An interrupted sweep starts over: no process can continue the scan of another.
//
// A write that lands behind the scan is overlooked, and no change leads to its document any more: the row may
// be gone since before the job. So the scan begins once every request taken over before the job has its
// outcomes. An earlier leader's requests are unknown: while one of them may be on its way, the scan is
// repeated.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/document_scan.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/jobs/running_job.h"

namespace lockstep {

class Sweep final : public RunningJob {
 public:
  /// The references must outlive this.
  Sweep(Job job, const AppliedIndex& index, const DocumentWriter& writer, SteadyTime write_lifetime_over);

  bool is_ready() override;
  bool rests() const override { return rests_; }
  bool look_ahead(const LookAhead& ask, const PageLimits& limits) override;

 private:
  std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;
  void remove_stale(SourceTransaction& transaction, StepDocuments& documents, const PageLimits& limits);

  void begin_scan(const LookAhead& ask, const PageLimits& limits);
  bool needs_another_scan() const { return scan_begun_ < write_lifetime_over_; }

  const DocumentWriter& writer_;
  const SteadyTime write_lifetime_over_;
  std::optional<std::uint64_t> requests_before_;  // that it waits for; none: no page was asked for yet
  SteadyTime scan_begun_{};
  SteadyTime not_before_{};  // the next scan
  std::atomic<bool> rests_ = false;
  // Its own: the end of a scan asks Elasticsearch, too, in whatever thread the sweep ends.
  std::shared_ptr<ElasticsearchClient> elasticsearch_;
  std::unique_ptr<DocumentScan> scan_;
  std::vector<FoundDocument> found_;  // the page
};

}  // namespace lockstep
