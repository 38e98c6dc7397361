#include "replicator/pipeline/document_writer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "replicator/document_limits.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/pipeline/own_refusals.h"
#include "replicator/source/checksum.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

constexpr std::size_t kSmallBytes = 64 * 1024;

// A write of a document waits so long for the one before it. Then it is parked, and the others go on.
constexpr std::chrono::milliseconds kPatience{1'000};

// Whether objects and arrays stand in each other more than kMaxDepth deep. Each level takes two bytes, so
// only a large document has to be looked at.
bool is_too_deep(std::string_view json) {
  if (json.size() <= 2 * kMaxDepth) return false;
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

bool can_be_written(std::string_view id) {
  return !id.empty() && id.size() <= kMaxIdBytes && is_utf8(id);
}

// A dead letter's _id and _routing are a key, which may not be as long as the text of a row.
constexpr std::size_t kMostStored = 1'000;
constexpr std::string_view kShortened = "… ";  // and a checksum of the whole behind it
constexpr std::size_t kChecksum = 16;

std::string storable(const std::string& text) {
  if (text.size() <= kMostStored) return text;
  std::string begin = shortened(text, kMostStored - kChecksum - 1);
  return begin + " " + checksum(text);
}

bool is_shortened(std::string_view text) {
  const std::size_t tail = kShortened.size() + kChecksum;
  return text.size() > tail && text.substr(text.size() - tail).starts_with(kShortened);
}

}  // namespace

// --- StepDocuments ---

StepDocuments::StepDocuments(Epoch epoch, std::int64_t counter, std::size_t bulk_bytes)
    : delete_version_(epoch, 2 * counter), write_version_(epoch, 2 * counter + 1), bulk_bytes_(bulk_bytes) {}

BulkRequest& StepDocuments::open_request() {
  if (requests_.empty() || requests_.back().bytes() >= bulk_bytes_) requests_.emplace_back();
  return requests_.back();
}

void StepDocuments::refuse(const DocumentKey& document, const std::string& type, const std::string& reason) {
  refused_.push_back({document.index, DocumentId{storable(document.id.text)}, storable(document.routing),
                      write_version_, 400, type, reason});
}

// Whether it is there or not, a document beyond the limits was never written.
bool StepDocuments::refuse_what_cannot_be_written(const DocumentKey& document,
                                                  const RenderedDocument& rendered) {
  const auto too_long = [](const char* what, const std::string& text, std::size_t most) {
    return std::string("the ") + what + " has " + std::to_string(text.size()) + " bytes, at most " +
           std::to_string(most) + " can be written";
  };
  if (document.id.text.empty()) {
    refuse(document, kInvalidDocumentId, "the _id is empty");
  } else if (document.id.text.size() > kMaxIdBytes) {
    refuse(document, kInvalidDocumentId, too_long("_id", document.id.text, kMaxIdBytes));
  } else if (document.routing.size() > kMaxRoutingBytes) {
    refuse(document, kInvalidRouting, too_long("_routing", document.routing, kMaxRoutingBytes));
  } else if (!is_utf8(document.id.text)) {
    refuse(document, kInvalidDocumentId, "the _id is not UTF-8");
  } else if (!is_utf8(document.routing)) {
    refuse(document, kInvalidRouting, "the _routing is not UTF-8");
  } else if (is_too_deep(*rendered.json)) {
    refuse(document, kDocumentTooDeep,
           "it is nested more than " + std::to_string(kMaxDepth) + " levels deep");
  } else if (rendered.is_ambiguous) {
    refuse(document, kAmbiguousDocumentId, "the view has several rows with this _id");
  } else if (!rendered.fault.empty()) {
    refuse(document, kInvalidDocument, std::string(rendered.fault));
  } else {
    return false;
  }
  return true;
}

void StepDocuments::add(const AppliedIndex& index, const RenderedDocument& document) {
  ++documents_;
  const auto under = [&](std::string_view routing) {
    return DocumentKey{index.id, DocumentId{std::string(document.id)}, std::string(routing)};
  };
  if (!document.json && !can_be_written(document.id)) {
    // Elasticsearch never had it. Only its dead letter has to go; what was shortened for it names no row.
    if (!is_shortened(document.id))
      never_written_.push_back(
          {index.id, DocumentId{storable(std::string(document.id))}, "", write_version_});
    return;
  }
  if (document.json && refuse_what_cannot_be_written(under(document.routing), document)) return;
  if (!document.json && index.routed && document.stale_routings.empty()) {
    never_written_.push_back({index.id, DocumentId{std::string(document.id)}, "", write_version_});
    return;
  }
  BulkRequest& request = open_request();
  const std::size_t before = request.bytes();
  for (const std::string& routing : document.stale_routings) {
    request.remove(index.target(), under(routing), delete_version_);
  }
  if (document.json) {
    request.index(index.target(), under(document.routing), write_version_, *document.json);
  } else if (!index.routed) {
    request.remove(index.target(), under({}), write_version_);
  }
  bytes_ += request.bytes() - before;
}

void StepDocuments::remove(const AppliedIndex& index, const FoundDocument& document) {
  ++documents_;
  open_request().remove(index.target(), {index.id, document.id, document.routing}, delete_version_);
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

void DocumentWriter::submit(Lane lane, StepDocuments documents, StepEnd end) {
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
  const bool is_jobs = lane != Lane::tail();
  if (is_jobs) job_requests_ += documents.requests_.size();
  for (BulkRequest& request : documents.requests_) {
    for (const BulkItem& item : request.items()) ++pending_[item.key.index];
    open_.insert(taken_over_);
    (is_jobs ? jobs_waiting_ : waiting_).push_back({std::move(request), step, taken_over_++});
  }
  send_waiting();
}

void DocumentWriter::send_waiting() {
  send_waiting(waiting_);
  send_waiting(jobs_waiting_);
}

void DocumentWriter::send_waiting(std::deque<Waiting>& queue) {
  const SteadyTime now = std::chrono::steady_clock::now();
  while (!queue.empty() && bulks_.has_room()) {
    Waiting& first = queue.front();
    if (collides(first.request)) {
      if (!first.since) first.since = now;
      if (may_wait(first, now)) return;
      park_colliding(first);
    }
    Waiting waiting = std::move(first);
    queue.pop_front();
    send(std::move(waiting));
  }
}

void DocumentWriter::send(Waiting waiting) {
  const bool is_jobs = waiting.step.lane != Lane::tail();
  if (waiting.request.empty()) {  // all of it is parked
    open_.erase(waiting.number);
    acknowledgements_.bulk_done(waiting.step);
    if (is_jobs) --job_requests_;
    return;
  }
  std::vector<std::size_t> hashes;
  hashes.reserve(waiting.request.items().size());
  for (const BulkItem& item : waiting.request.items()) {
    hashes.push_back(hash_of(item));
    recent_.add(hashes.back(), item.version);
  }
  const auto priority = is_jobs ? BulkWriter::Priority::kBackground : BulkWriter::Priority::kNormal;
  const std::uint64_t ticket = bulks_.submit(std::move(waiting.request), priority);
  for (const std::size_t hash : hashes) documents_in_flight_.emplace(hash, ticket);
  requests_.emplace(ticket, InFlight{waiting.step, waiting.number, std::chrono::steady_clock::now()});
}

// Not for a write that fails again and again, nor for one that is on its way for long: both may take minutes.
bool DocumentWriter::may_wait(const Waiting& waiting, SteadyTime now) const {
  if (now - *waiting.since >= kPatience) return false;
  const std::vector<BulkItem>& items = waiting.request.items();
  return std::none_of(items.begin(), items.end(), [&](const BulkItem& item) {
    const auto [first, last] = documents_in_flight_.equal_range(hash_of(item));
    return std::any_of(first, last, [&](const auto& in_flight) {
      return now - requests_.at(in_flight.second).sent >= kPatience || bulks_.is_repeated(in_flight.second);
    });
  });
}

void DocumentWriter::park_colliding(Waiting& waiting) {
  std::vector<std::size_t> free;
  const std::vector<BulkItem>& items = waiting.request.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (collides(items[i])) {
      --pending_[items[i].key.index];
      park(items[i].key, "another write of the document takes long");
    } else {
      free.push_back(i);
    }
  }
  waiting.request = waiting.request.subset(free);
}

void DocumentWriter::park(const DocumentKey& document, const std::string& reason) {
  ParkedDocuments& parked = parked_[document.index];
  parked.documents.push_back({document.id, document.routing});
  parked.reason = reason;
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
    if (each.step.lane == Lane::tail()) {
      const StepEnd& end = acknowledgements_.end_of(each.step);
      applied_.add(std::chrono::steady_clock::now() - end.oldest_change, end.rows);
    }
    refresher_->add(each.step, each.indices);
    ++refreshing_;
    return true;
  });
}

DocumentWriter::Delays DocumentWriter::take_delays() {
  DelayHistogram complete = acknowledgements_.take_delays();
  if (refresher_ == nullptr) return {complete, {}};
  return {std::exchange(applied_, {}), complete};
}

std::int64_t DocumentWriter::pending(IndexId index) const {
  const auto found = pending_.find(index);
  return found == pending_.end() ? 0 : found->second;
}

void DocumentWriter::take_outcomes(std::chrono::milliseconds wait) {
  for (BulkResult& result : bulks_.take(wait)) take_result(std::move(result));
  send_waiting();
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
  const auto in_flight = requests_.find(result.ticket);
  const StepId step = in_flight->second.step;
  open_.erase(in_flight->second.number);
  requests_.erase(in_flight);
  std::map<IndexId, Counts> counts;
  const std::vector<BulkItem>& items = result.request.items();
  for (const BulkItem& item : items) {
    --pending_[item.key.index];
    const auto [first, last] = documents_in_flight_.equal_range(hash_of(item));
    documents_in_flight_.erase(
        std::find_if(first, last, [&](const auto& each) { return each.second == result.ticket; }));
  }
  for (RefusedItem& refusal : result.refusals) {
    Outcome& outcome = result.outcomes[refusal.item];
    // It was tried for long, so it is a dead letter, which the leader tries again at leisure.
    if (outcome == Outcome::kPutOff) outcome = Outcome::kRefused;
    const BulkItem& item = items[refusal.item];
    take_refusal(item, outcome, std::move(refusal));
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    take_outcome(items[i], result.outcomes[i], counts[items[i].key.index]);
  acknowledgements_.bulk_done(step);
  if (step.lane != Lane::tail()) {
    --job_requests_;
  } else if (result.request.bytes() <= kSmallBytes) {
    small_change_(result.took);
  }
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

void DocumentWriter::take_refusal(const BulkItem& item, Outcome outcome, RefusedItem refusal) {
  if (outcome == Outcome::kRefused) {
    with_dead_letters_.insert(item.key.index);
    refused_.push_back({item.key.index, item.key.id, item.key.routing, item.version, refusal.status,
                        std::move(refusal.type), std::move(refusal.reason)});
    return;
  }
  held_(item.key, refusal.reason);
  park(item.key, refusal.reason);
}

void DocumentWriter::take_outcome(const BulkItem& item, Outcome outcome, Counts& counts) {
  if (outcome == Outcome::kSuperseded && !is_superseded_by_us(item)) return;
  if (outcome == Outcome::kRefused || (item.action == BulkAction::kIndex && outcome != Outcome::kHeld))
    ++documents_[item.key.index];
  const auto write = [&] {
    return AcknowledgedWrite{item.key.index, item.key.id, item.key.routing, item.version};
  };
  switch (outcome) {
    case Outcome::kHeld:
    case Outcome::kPutOff:  // a refusal, to take_result()
      return;
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

// False: the document is parked. What has the greater version may be anything but the state that we wanted.
bool DocumentWriter::is_superseded_by_us(const BulkItem& item) {
  const RecentWrites::Owner owner = recent_.owner_of_newer(hash_of(item), item.version);
  if (owner == RecentWrites::Owner::kUs) return true;
  park(item.key, "its write met a greater version that this leader has not sent");
  foreign_(item.key, owner);
  return false;
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
         !gone_routes_.empty() || !parked_.empty();
}

}  // namespace lockstep
