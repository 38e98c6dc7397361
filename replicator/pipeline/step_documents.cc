#include "replicator/pipeline/step_documents.h"

#include <optional>
#include <string_view>
#include <utility>

#include "replicator/document_limits.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/hex.h"
#include "replicator/pipeline/own_refusals.h"
#include "replicator/source/checksum.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

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

StepDocuments::StepDocuments(Epoch epoch, std::int64_t counter, std::size_t bulk_bytes)
    : delete_version_(epoch, 2 * counter), write_version_(epoch, 2 * counter + 1), bulk_bytes_(bulk_bytes) {}

BulkRequest& StepDocuments::open_request(IndexId index) {
  const auto open = std::ranges::find_if(requests_, [&](const BulkRequest& request) {
    return request.bytes() < bulk_bytes_ && (request.empty() || request.index() == index);
  });
  return open == requests_.end() ? requests_.emplace_back() : *open;
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
    refuse(document, kInvalidDocumentId, "the _id is not UTF-8: x'" + hex_of(document.id.text) + "'");
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
  ++size_.documents;
  const auto under = [&](std::string_view routing) {
    return DocumentKey{index.id, DocumentId{std::string(document.id)}, std::string(routing)};
  };
  if (!document.json && !can_be_document_id(document.id)) {
    // Elasticsearch never had it. Only its dead letter has to go; a shortened id names no row.
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
  BulkRequest& request = open_request(index.id);
  const std::size_t before = request.bytes();
  for (const std::string& routing : document.stale_routings) {
    request.remove(index.target(), under(routing), delete_version_);
  }
  if (document.json) {
    request.index(index.target(), under(document.routing), write_version_, *document.json);
  } else if (!index.routed) {
    request.remove(index.target(), under({}), write_version_);
  }
  if (document.json) size_.json_bytes += document.json->size();
  size_.bytes += request.bytes() - before;
}

void StepDocuments::note_not_kept(const AppliedIndex& index, const FoundDocument& document) {
  refuse({index.id, document.id, document.routing}, kNotKept,
         "it was written, and Elasticsearch gives back something else: its mapping or an ingest pipeline "
         "changes it");
}

void StepDocuments::remove(const AppliedIndex& index, const FoundDocument& document) {
  ++size_.documents;
  open_request(index.id).remove(index.target(), {index.id, document.id, document.routing}, delete_version_);
}

}  // namespace lockstep
