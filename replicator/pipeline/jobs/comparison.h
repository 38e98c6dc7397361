// Compares an index with its view, in the order of _id, and writes the documents that differ in
// Elasticsearch or are missing there. While Elasticsearch looks up one page, the source renders the next, and
// the tail goes on.
//
// It leaves equal documents alone, although a write that is still on its way may change one of them. That
// does no harm: if the write is of this process, the tail has a later change of the document before it; if it
// is of a deposed leader, the tail repeats the changes that this leader had not acknowledged.
#pragma once

#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "replicator/pipeline/jobs/page_in_hand.h"
#include "replicator/pipeline/jobs/running_job.h"
#include "replicator/pipeline/repair/view_page.h"

namespace lockstep {

class Comparison final : public RunningJob {
 public:
  using RunningJob::RunningJob;
  /// Cuts off what is asked of Elasticsearch.
  ~Comparison() override;

  bool look_ahead(const LookAhead& ask, const PageLimits& limits) override;

 private:
  /// A page that is being looked up.
  struct Asked {
    JobPosition behind;
    bool is_last = false;
    std::int64_t documents = 0;
    std::shared_ptr<ElasticsearchClient> client;
    std::future<DocumentIds> different;  // uses client
  };

  std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;
  std::optional<DocumentId> last_asked() const;
  void ask_for_page(const LookAhead& ask, const PageLimits& limits);
  void take_answer();

  RenderedSize size_;
  std::vector<std::shared_ptr<ElasticsearchClient>> idle_;
  std::deque<Asked> asked_;  // in the order of the view
  PageInHand different_;
  bool has_page_ = false;             // whether read() has not finished it
  std::optional<Compared> compared_;  // none until the first page
  std::int64_t documents_ = 0;        // of the page, until they are counted
};

}  // namespace lockstep
