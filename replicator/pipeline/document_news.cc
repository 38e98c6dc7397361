#include "replicator/pipeline/document_news.h"

#include <algorithm>

namespace lockstep {

DocumentNews::DocumentNews(const AppliedPipeline& pipeline) {
  for (const AppliedIndex& index : pipeline.indices) {
    if (index.routed) routed_.insert(index.id);
  }
}

void DocumentNews::add_written(const BulkItem& item, bool is_newer, bool is_repeated) {
  const IndexId index = item.key.index;
  const bool is_delete = item.action == BulkAction::kDelete;
  const auto write = [&] { return AcknowledgedWrite{index, item.key.id, item.key.routing, item.version}; };
  if (!is_delete) ++documents_[index];
  if (!is_newer && with_dead_letters_.contains(index)) no_longer_refused_.push_back(write());
  if (is_delete && !is_repeated && routed_.contains(index)) gone_routes_.push_back(write());
}

void DocumentNews::add_refused(DeadLetter letter) {
  with_dead_letters_.insert(letter.index);
  ++documents_[letter.index];
  refused_.push_back(std::move(letter));
}

void DocumentNews::add_never_written(AcknowledgedWrite write) {
  if (with_dead_letters_.contains(write.index)) no_longer_refused_.push_back(std::move(write));
}

void DocumentNews::add_unwritten(const DocumentKey& document, const std::string& reason,
                                 std::optional<DueNumber> since) {
  UnwrittenDocuments& unwritten = unwritten_[document.index];
  unwritten.documents.push_back({document.id, document.routing});
  unwritten.reason = reason;
  if (since) unwritten.since = std::min(unwritten.since.value_or(*since), *since);
}

void DocumentNews::add_to_repeat(const DocumentKey& document, SteadyTime at) {
  RepeatedDocuments& repeated = repeated_[document.index];
  repeated.documents.push_back({document.id, document.routing});
  repeated.at = std::max(repeated.at, at);
}

void DocumentNews::expect_no_dead_letters(IndexId index) {
  const bool unsaved = std::ranges::find(refused_, index, &DeadLetter::index) != refused_.end();
  if (!unsaved) with_dead_letters_.erase(index);
}

bool DocumentNews::empty() const {
  return refused_.empty() && no_longer_refused_.empty() && gone_routes_.empty() && unwritten_.empty() &&
         repeated_.empty();
}

void DocumentNews::take(Acknowledged& news) {
  news.documents = std::exchange(documents_, {});
  news.refused = std::exchange(refused_, {});
  news.no_longer_refused = std::exchange(no_longer_refused_, {});
  news.gone_routes = std::exchange(gone_routes_, {});
}

}  // namespace lockstep
