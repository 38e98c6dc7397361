#include "replicator/pipeline/document_writer.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace lockstep {
namespace {

constexpr std::size_t kSmallBytes = 64 * 1024;

bool can_be_written(std::string_view id) {
  return !id.empty() && id.size() <= kMaxIdBytes;
}

}  // namespace

// --- StepDocuments ---

StepDocuments::StepDocuments(Epoch epoch, std::int64_t counter, std::size_t bulk_bytes)
    : delete_version_(epoch, 2 * counter), write_version_(epoch, 2 * counter + 1), bulk_bytes_(bulk_bytes) {}

BulkRequest* StepDocuments::open_request(const AppliedIndex& index, std::string_view id,
                                         DocumentVersion version) {
  if (!can_be_written(id)) {
    refused_.push_back({index.id, DocumentId{std::string(id)}, "", version, 400, "invalid_document_id",
                        id.empty()
                            ? "the _id is empty"
                            : "the _id has " + std::to_string(id.size()) +
                                  " bytes, Elasticsearch takes at most " + std::to_string(kMaxIdBytes)});
    return nullptr;
  }
  if (requests_.empty() || requests_.back().bytes() >= bulk_bytes_) requests_.emplace_back();
  return &requests_.back();
}

void StepDocuments::add(const AppliedIndex& index, const RenderedDocument& document) {
  ++documents_;
  if (!document.json && !can_be_written(document.id)) {
    // Elasticsearch never had it. Only its dead letter has to go.
    never_written_.push_back({index.id, DocumentId{std::string(document.id)}, "", write_version_});
    return;
  }
  BulkRequest* request = open_request(index, document.id, write_version_);
  if (request == nullptr) return;
  const std::size_t before = request->bytes();
  const auto under = [&](std::string_view routing) {
    return DocumentKey{index.id, DocumentId{std::string(document.id)}, std::string(routing)};
  };
  for (const std::string& routing : document.stale_routings) {
    request->remove(index.alias, under(routing), delete_version_);
  }
  if (document.json) {
    request->index(index.alias, under(document.routing), write_version_, *document.json);
  } else if (!index.routed) {
    request->remove(index.alias, under({}), write_version_);
  }
  bytes_ += request->bytes() - before;
}

void StepDocuments::remove(const AppliedIndex& index, const FoundDocument& document) {
  ++documents_;
  if (BulkRequest* request = open_request(index, document.id.text, delete_version_)) {
    request->remove(index.alias, {index.id, document.id, document.routing}, delete_version_);
  }
}

// --- DocumentWriter ---

DocumentWriter::DocumentWriter(BulkWriter& bulks, ProgressBoard& board, const AppliedPipeline& pipeline)
    : bulks_(bulks), board_(board) {
  for (const AppliedIndex& index : pipeline.indices) routed_[index.id] = index.routed;
}

std::size_t DocumentWriter::hash_of(const BulkItem& item) {
  // Without the routing: an id under two routings is one document here (W1).
  return std::hash<std::string>()(item.key.id.text) ^
         (static_cast<std::size_t>(item.key.index.value) * 0x9e3779b97f4a7c15ULL);
}

bool DocumentWriter::collides(const BulkRequest& request) const {
  return std::any_of(request.items().begin(), request.items().end(),
                     [&](const BulkItem& item) { return documents_in_flight_.contains(hash_of(item)); });
}

bool DocumentWriter::submit(Lane lane, StepDocuments documents, StepEnd end, const std::stop_token& stop) {
  for (DeadLetter& letter : documents.refused_) {
    with_dead_letters_.insert(letter.index);
    ++documents_[letter.index];
    refused_.push_back(std::move(letter));
  }
  for (AcknowledgedWrite& document : documents.never_written_) {
    if (with_dead_letters_.contains(document.index)) no_longer_refused_.push_back(std::move(document));
  }
  std::erase_if(documents.requests_, [](const BulkRequest& request) { return request.empty(); });
  const std::optional<std::set<IndexId>> indices = indices_to_refresh(lane, documents, end);
  const StepId step =
      acknowledgements_.add(lane, documents.requests_.size() + (indices ? 1 : 0), std::move(end));
  if (indices) to_refresh_.push_back({step, *indices});
  for (BulkRequest& request : documents.requests_) {
    while (!bulks_.has_room() || collides(request)) {
      if (stop.stop_requested()) return false;
      take_outcomes(std::chrono::milliseconds(100));
    }
    for (const BulkItem& item : request.items()) documents_in_flight_.insert(hash_of(item));
    const bool is_jobs = lane != Lane::tail();
    const auto priority = is_jobs ? BulkWriter::Priority::kBackground : BulkWriter::Priority::kNormal;
    requests_.emplace(bulks_.submit(std::move(request), priority), step);
    if (is_jobs) ++job_requests_;
  }
  return true;
}

// Pages of a job are refreshed together, at its end. An earlier process may have written some of them, into
// any index, so a job whose own process wrote nothing refreshes all indices.
std::optional<std::set<IndexId>> DocumentWriter::indices_to_refresh(Lane lane, const StepDocuments& documents,
                                                                    const StepEnd& end) {
  if (refresher_ == nullptr) return std::nullopt;
  std::set<IndexId>& written = written_[lane];
  for (const BulkRequest& request : documents.requests_) {
    for (const BulkItem& item : request.items()) written.insert(item.key.index);
  }
  const bool of_job = lane != Lane::tail();
  if (of_job && !(end.progress && end.progress->finished)) return std::nullopt;
  std::set<IndexId> indices = std::move(written);
  written_.erase(lane);
  if (indices.empty() && !of_job) return std::nullopt;
  if (indices.empty()) {
    for (const auto& [index, routed] : routed_) indices.insert(index);
  }
  return indices;
}

void DocumentWriter::refresh_applied() {
  if (refresher_ == nullptr) return;
  for (const StepId step : refresher_->take_finished()) {
    acknowledgements_.bulk_done(step);
    --refreshing_;
  }
  std::erase_if(to_refresh_, [&](const ToRefresh& each) {
    const bool applied = acknowledgements_.bulks_left(each.step) == 1 &&
                         (each.step.lane == Lane::tail() || acknowledgements_.is_first(each.step));
    if (!applied) return false;
    refresher_->add(each.step, each.indices);
    ++refreshing_;
    return true;
  });
}

void DocumentWriter::take_outcomes(std::chrono::milliseconds wait) {
  for (BulkResult& result : bulks_.take(wait)) take_result(std::move(result));
  refresh_applied();
  const BulkWriterState state = bulks_.state();
  board_.update([&](ReplicationProgress& progress) {
    progress.bulk_retries = static_cast<std::int64_t>(state.retries);
    progress.bulks_in_flight = state.in_flight;
    progress.most_bulks_in_flight = state.most_in_flight;
    progress.most_bulk_bytes = static_cast<std::int64_t>(state.most_bytes);
    progress.turned_at = std::chrono::steady_clock::now();
  });
}

void DocumentWriter::take_result(BulkResult result) {
  std::map<IndexId, Counts> counts;
  const std::vector<BulkItem>& items = result.request.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    documents_in_flight_.erase(documents_in_flight_.find(hash_of(items[i])));
    take_outcome(items[i], result.outcomes[i], counts[items[i].key.index]);
  }
  for (RefusedItem& refusal : result.refusals) {
    const BulkItem& item = items[refusal.item];
    with_dead_letters_.insert(item.key.index);
    refused_.push_back({item.key.index, item.key.id, item.key.routing, item.version, refusal.status,
                        std::move(refusal.type), std::move(refusal.reason)});
  }
  const auto step = requests_.find(result.ticket);
  acknowledgements_.bulk_done(step->second);
  if (step->second.lane != Lane::tail()) {
    --job_requests_;
  } else if (result.request.bytes() <= kSmallBytes) {
    small_change_(result.took);
  }
  requests_.erase(step);
  board_.update([&](ReplicationProgress& progress) {
    for (const auto& [index, count] : counts) {
      IndexProgress& of_index = progress.indices[index];
      of_index.documents += count.documents;
      of_index.deletes += count.deletes;
      of_index.superseded += count.superseded;
      of_index.refused += count.refused;
    }
    ++progress.bulk_requests;
    progress.bulk_bytes += static_cast<std::int64_t>(result.request.bytes());
    progress.advanced_at = std::chrono::steady_clock::now();
  });
}

void DocumentWriter::take_outcome(const BulkItem& item, Outcome outcome, Counts& counts) {
  if (item.action == BulkAction::kIndex || outcome == Outcome::kRefused) ++documents_[item.key.index];
  const auto write = [&] {
    return AcknowledgedWrite{item.key.index, item.key.id, item.key.routing, item.version};
  };
  switch (outcome) {
    case Outcome::kRefused:
      ++counts.refused;
      return;
    case Outcome::kSuperseded:
      ++counts.superseded;
      break;
    case Outcome::kApplied:
      ++(item.action == BulkAction::kIndex ? counts.documents : counts.deletes);
      if (with_dead_letters_.contains(item.key.index)) {
        no_longer_refused_.push_back(write());
      }
      break;
  }
  if (item.action == BulkAction::kDelete && routed_[item.key.index]) {
    gone_routes_.push_back(write());
  }
}

Acknowledged DocumentWriter::take_acknowledged() {
  Acknowledged news = acknowledgements_.take();
  news.documents = std::exchange(documents_, {});
  news.refused = std::exchange(refused_, {});
  news.no_longer_refused = std::exchange(no_longer_refused_, {});
  news.gone_routes = std::exchange(gone_routes_, {});
  return news;
}

void DocumentWriter::expect_no_dead_letters(IndexId index) {
  const bool unsaved = std::any_of(refused_.begin(), refused_.end(),
                                   [&](const DeadLetter& letter) { return letter.index == index; });
  if (!unsaved) with_dead_letters_.erase(index);
}

bool DocumentWriter::has_news() const {
  return acknowledgements_.has_news() || !refused_.empty() || !no_longer_refused_.empty() ||
         !gone_routes_.empty();
}

}  // namespace lockstep
