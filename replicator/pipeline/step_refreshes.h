// Which steps end with a refresh, and of which indices (W3, document_writer.h). A step's refresh counts as
// one more of its bulks, so it is complete once its writes are searchable.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/pipeline/acknowledgements.h"
#include "replicator/pipeline/delay_histogram.h"
#include "replicator/pipeline/refresher.h"
#include "replicator/source/applied.h"

namespace lockstep {

class StepRefreshes {
 public:
  /// Nothing is refreshed without a refresher. `refresher` must outlive this.
  explicit StepRefreshes(const AppliedPipeline& pipeline);
  void use(Refresher& refresher) { refresher_ = &refresher; }
  bool is_on() const { return refresher_ != nullptr; }

  /// Takes note of the documents of the lane's next step, and returns which indices are to be refreshed when
  /// it is applied; none: it needs no refresh. Pages of a job are refreshed together, at its end, and
  /// likewise the steps of a page of due documents.
  std::optional<std::set<IndexId>> note(Lane lane, const std::vector<BulkRequest>& requests,
                                        const StepEnd& end);

  /// The step, whose number is known now, needs this refresh.
  void add(StepId step, std::set<IndexId> indices) { to_refresh_.push_back({step, std::move(indices)}); }

  /// Has the steps refreshed that are complete otherwise, and completes the searchable ones.
  void advance(Acknowledgements& acknowledgements);

  /// How long the tail's rows took until all of their step was applied, since the last call.
  DelayHistogram take_delays() { return std::exchange(applied_, {}); }

  bool empty() const { return to_refresh_.empty() && refreshing_ == 0; }

 private:
  struct ToRefresh {
    StepId step;
    std::set<IndexId> indices;
  };

  Refresher* refresher_ = nullptr;
  std::set<IndexId> all_;
  std::map<Lane, std::set<IndexId>> written_;  // to be refreshed with a later step of the lane
  std::vector<ToRefresh> to_refresh_;          // not all of it is applied yet
  std::size_t refreshing_ = 0;                 // steps that refresher_ has
  DelayHistogram applied_;                     // of steps that refresher_ has got
};

}  // namespace lockstep
