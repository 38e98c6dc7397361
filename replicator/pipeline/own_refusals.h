// Why Lockstep itself makes dead letters of documents that Elasticsearch has not refused. Their reasons quote
// no value.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep {

inline constexpr const char* kInvalidDocumentId = "invalid_document_id";
inline constexpr const char* kInvalidRouting = "invalid_routing";
inline constexpr const char* kDocumentTooDeep = "document_too_deep";
inline constexpr const char* kAmbiguousDocumentId = "ambiguous_document_id";
inline constexpr const char* kInvalidDocument = "invalid_document";
inline constexpr const char* kNotKept = "document_not_kept";

/// Whether a dead letter's error type is one of these.
inline bool is_own_refusal(std::string_view error_type) {
  constexpr std::array<std::string_view, 6> kOwn = {kInvalidDocumentId,   kInvalidRouting,  kDocumentTooDeep,
                                                    kAmbiguousDocumentId, kInvalidDocument, kNotKept};
  return std::find(kOwn.begin(), kOwn.end(), error_type) != kOwn.end();
}

}  // namespace lockstep
