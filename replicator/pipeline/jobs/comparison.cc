#include "replicator/pipeline/jobs/comparison.h"

#include <chrono>
#include <utility>

#include "replicator/elasticsearch/admin/ingest_pipelines.h"
#include "replicator/elasticsearch/read/document_reader.h"

namespace lockstep {
namespace {

DocumentIds ids_of_different(ElasticsearchClient& elasticsearch, const AppliedIndex& index,
                             const ViewPage& page, Compared compared) {
  DocumentIds ids;
  for (FoundDocument& document : find_different(elasticsearch, index, page, compared))
    ids.push_back(std::move(document.id));
  return ids;
}

}  // namespace

Comparison::~Comparison() {
  for (const Asked& asked : asked_) asked.client->cancel();
  for (const Asked& asked : asked_) asked.different.wait();
  if (!look_) return;
  look_->client->cancel();
  look_->not_kept.wait();
}

bool Comparison::look_ahead(const LookAhead& ask, const PageLimits& limits) {
  const bool has_asked_for_all = asked_.empty() ? has_page_ && different_.is_last() : asked_.back().is_last;
  if (!has_asked_for_all && asked_.size() < limits.ahead) ask_for_page(ask, limits);
  if (awaits_outcomes()) return look_at_written(ask);
  if (has_page_) return true;
  const Background<DocumentIds>& different = asked_.front().different;
  if (!ask.may_wait && !different.has_ended()) return false;
  take_answer();
  return true;
}

std::optional<DocumentId> Comparison::last_asked() const {
  const JobPosition* behind = nullptr;
  if (!asked_.empty())
    behind = &asked_.back().behind;
  else if (has_page_)
    behind = &different_.behind();
  const auto* const after = std::get_if<AfterDocument>(behind);
  return after == nullptr ? last_document() : std::optional(after->id);
}

void Comparison::ask_for_page(const LookAhead& ask, const PageLimits& limits) {
  const RenderedSize::Order order = size_.order(static_cast<std::size_t>(limits.bytes), limits.documents);
  auto page = std::make_shared<ViewPage>(
      read_view_page(*ask.read(), index(), last_asked(), order.documents, order.json_bytes));
  StepSize read{page->documents.size()};
  for (const std::string& json : page->json) read.json_bytes += json.size();
  read.bytes = read.json_bytes;
  size_.came({}, read);

  Asked asked;
  asked.behind = page->last ? JobPosition(AfterDocument{*page->last}) : position();
  asked.is_last = page->end;
  asked.documents = static_cast<std::int64_t>(page->documents.size());
  asked.client = take_client(ask);
  if (!compared_) compared_ = compared_through(ingest_pipelines_of(*asked.client, index().target()));
  asked.different = in_background([&client = *asked.client, &index = index(), page, compared = *compared_] {
    return ids_of_different(client, index, *page, compared);
  });
  asked_.push_back(std::move(asked));
}

std::shared_ptr<ElasticsearchClient> Comparison::take_client(const LookAhead& ask) {
  if (idle_.empty()) return ask.open_client();
  std::shared_ptr<ElasticsearchClient> client = std::move(idle_.back());
  idle_.pop_back();
  return client;
}

std::vector<FoundDocument> Comparison::find_not_kept(ElasticsearchClient& elasticsearch,
                                                     const AppliedIndex& index,
                                                     const std::vector<Written>& written, Compared compared) {
  std::vector<DocumentLocation> locations;
  for (const Written& each : written)
    locations.push_back({each.document.id.text, each.document.routing, each.json.size()});
  std::vector<FoundDocument> not_kept;
  fetch_documents(elasticsearch, index.target(), locations,
                  [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                    const Written& each = written[i];
                    if (!stored || stored->version != each.version) return;  // refused, or written since
                    const bool is_kept = stored->routing == each.document.routing &&
                                         is_equal(compared, each.json, stored->source);
                    if (!is_kept) not_kept.push_back(each.document);
                  });
  return not_kept;
}

// False: the answer has not come yet. REQUIRES: the writes have their outcomes.
bool Comparison::look_at_written(const LookAhead& ask) {
  if (!look_) {
    look_.emplace(Look{take_client(ask), {}});
    look_->not_kept =
        in_background([this] { return find_not_kept(*look_->client, index(), written_, *compared_); });
  }
  if (!ask.may_wait && !look_->not_kept.has_ended()) return false;
  look_->not_kept.wait();
  Look look = *std::move(look_);
  look_.reset();
  not_kept_ = look.not_kept.get();
  idle_.push_back(std::move(look.client));
  written_.clear();
  return true;
}

// After a failure the pages are asked for again.
void Comparison::take_answer() {
  Asked asked = std::move(asked_.front());
  asked_.pop_front();
  try {
    different_.take(asked.different.get(), asked.behind, asked.is_last);
  } catch (...) {
    for (Asked& later : asked_) {
      later.client->cancel();
      later.different.wait();
    }
    asked_.clear();
    throw;
  }
  idle_.push_back(std::move(asked.client));
  has_page_ = true;
  documents_ = asked.documents;
}

std::int64_t Comparison::read(SourceTransaction& transaction, StepDocuments& documents,
                              const PageLimits& limits) {
  for (const FoundDocument& document : std::exchange(not_kept_, {}))
    documents.note_not_kept(index(), document);
  const bool looks_again = index().beside.has_value();
  different_.render(transaction, index(), documents, limits.bytes, [&](const RenderedDocument& document) {
    if (looks_again && document.json)
      written_.push_back({{DocumentId{std::string(document.id)}, std::string(document.routing)},
                          documents.version(),
                          std::string(*document.json)});
  });
  if (different_.rendered() && written_.empty()) {
    has_page_ = false;
    move_to(different_.behind());
    if (different_.is_last()) finish_reading();
  }
  return std::exchange(documents_, 0);
}

}  // namespace lockstep
