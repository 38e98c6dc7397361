// Why lockstep itself makes dead letters of documents, without asking Elasticsearch. Their reasons quote no
// value.
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

/// Whether a dead letter's error type is one of these.
inline bool is_own_refusal(std::string_view error_type) {
  constexpr std::array<std::string_view, 5> kOwn = {kInvalidDocumentId, kInvalidRouting, kDocumentTooDeep,
                                                    kAmbiguousDocumentId, kInvalidDocument};
  return std::find(kOwn.begin(), kOwn.end(), error_type) != kOwn.end();
}

}  // namespace lockstep
