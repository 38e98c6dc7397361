#include "replicator/pipeline/rendering.h"

#include <algorithm>

namespace lockstep {
namespace {

// Of the documents that fit on average. One too few costs a round trip, one too many a rendering.
constexpr double kMore = 1.25;

// While nothing is known of the documents' size: they may be of megabytes, and all of them are rendered.
constexpr double kDocumentsOfUnknownSize = 10;

}  // namespace

bool is_nearly_full(std::size_t bytes, std::size_t full) {
  return bytes >= full - full / 8;
}

// --- RenderedSize ---

RenderedSize::Order RenderedSize::order(std::size_t room, std::int64_t most_documents) const {
  const auto bytes = static_cast<double>(room);
  const auto most = static_cast<double>(std::max<std::int64_t>(1, most_documents));
  const double documents = each_ == 0 ? kDocumentsOfUnknownSize : kMore * bytes / each_;
  // The document that reaches the limit comes whole.
  const double json = (bytes - each_) * share_of_json_;
  return {static_cast<std::int64_t>(std::clamp(documents, 1.0, most)),
          static_cast<std::int64_t>(std::max(1.0, json))};
}

std::size_t RenderedSize::of(std::size_t documents) const {
  return static_cast<std::size_t>(each_ * static_cast<double>(documents));
}

// A small document among large ones does not make it order many large ones at once.
void RenderedSize::came(const StepSize& before, const StepSize& after) {
  if (after.documents == before.documents || after.bytes == before.bytes) return;
  const auto documents = static_cast<double>(after.documents - before.documents);
  const auto bytes = static_cast<double>(after.bytes - before.bytes);
  each_ = std::max(bytes / documents, each_ / 2);
  if (after.json_bytes > before.json_bytes)
    share_of_json_ = static_cast<double>(after.json_bytes - before.json_bytes) / bytes;
}

// --- Rendering ---

void Rendering::render(SourceTransaction& transaction, const AppliedIndex& index, DocumentIds& ids,
                       StepDocuments& documents, std::size_t full_bytes, std::int64_t most_documents,
                       const DocumentSink& sink) {
  const std::size_t most = documents.size().documents + static_cast<std::size_t>(most_documents);
  while (!ids.empty() && documents.size().documents < most &&
         !is_nearly_full(documents.size().bytes, full_bytes)) {
    const StepSize before = documents.size();
    const RenderedSize::Order order =
        size_.order(full_bytes - before.bytes, static_cast<std::int64_t>(most - before.documents));
    const auto count =
        std::min(static_cast<std::ptrdiff_t>(ids.size()), static_cast<std::ptrdiff_t>(order.documents));
    const DocumentIds asked_for(ids.end() - count, ids.end());
    ids.erase(ids.end() - count, ids.end());
    const DocumentIds left_over = transaction.render_for(
        documents.version(), index, asked_for, order.json_bytes, [&](const RenderedDocument& document) {
          documents.add(index, document);
          if (sink) sink(document);
        });
    ids.insert(ids.end(), left_over.begin(), left_over.end());
    size_.came(before, documents.size());
  }
}

ViewPageEnd Rendering::render_page(SourceTransaction& transaction, const AppliedIndex& index,
                                   std::optional<DocumentId> after, StepDocuments& documents,
                                   std::size_t full_bytes, std::int64_t most_documents) {
  const std::size_t most = documents.size().documents + static_cast<std::size_t>(most_documents);
  ViewPageEnd all;
  while (!all.end && documents.size().documents < most &&
         !is_nearly_full(documents.size().bytes, full_bytes)) {
    const StepSize before = documents.size();
    const RenderedSize::Order order =
        size_.order(full_bytes - before.bytes, static_cast<std::int64_t>(most - before.documents));
    const ViewPageEnd page = transaction.render_page_for(
        documents.version(), index, after, order.documents, order.json_bytes,
        [&](const RenderedDocument& document) { documents.add(index, document); });
    if (page.last) all.last = after = page.last;
    all.end = page.end;
    size_.came(before, documents.size());
  }
  return all;
}

}  // namespace lockstep
