// Compares an index with its view, in the order of _id, and writes the documents that differ in Elasticsearch
// or are missing there. While Elasticsearch looks up one page, the source renders the next, and the tail
// continues.
//
// It leaves equal documents alone, although a write that is still on its way may change one of them. That
// does no harm: if the write is of this process, the tail has a later change of the document before it; if it
// is of a deposed leader, the tail repeats the changes that this leader had not acknowledged.
//
// In a generation next to another it looks again at the documents it has written. One that is not given back
// as written, though no other writer has touched it since, becomes a dead letter: it would differ for ever,
// and may not be swapped in (X4 in pipeline/reindexing.h).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/background.h"
#include "replicator/pipeline/jobs/page_in_hand.h"
#include "replicator/pipeline/jobs/running_job.h"
#include "replicator/pipeline/repair/view_page.h"

namespace lockstep {

class Comparison final : public RunningJob {
 public:
  using RunningJob::RunningJob;
  /// Cuts off its requests to Elasticsearch.
  ~Comparison() override;

  bool look_ahead(const LookAhead& ask, const PageLimits& limits) override;
  bool awaits_outcomes() const override { return different_.rendered() && !written_.empty(); }

 private:
  /// A page that is being looked up.
  struct Asked {
    JobPosition behind;
    bool is_last = false;
    std::int64_t documents = 0;
    std::shared_ptr<ElasticsearchClient> client;
    Background<DocumentIds> different;  // uses client
  };

  /// A document of the page in hand, as a step has written it.
  struct Written {
    FoundDocument document;
    DocumentVersion version;
    std::string json;
  };

  /// A look at written documents.
  struct Look {
    std::shared_ptr<ElasticsearchClient> client;
    Background<std::vector<FoundDocument>> not_kept;  // uses client and written_
  };

  static std::vector<FoundDocument> find_not_kept(ElasticsearchClient& elasticsearch,
                                                  const AppliedIndex& index,
                                                  const std::vector<Written>& written, Compared compared);
  std::int64_t read(SourceTransaction& transaction, StepDocuments& documents,
                    const PageLimits& limits) override;
  std::shared_ptr<ElasticsearchClient> take_client(const LookAhead& ask);
  bool look_at_written(const LookAhead& ask);
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
  std::vector<Written> written_;      // of the page, until it was looked at
  std::optional<Look> look_;
  std::vector<FoundDocument> not_kept_;  // until they are dead letters
};

}  // namespace lockstep
