// A document as tests compare it, wherever it was read: in an index or in a view.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace lockstep::support {

/// Where a document lives. Elasticsearch can hold one id under two routings, which is a fault that tests look
/// for.
struct DocumentAddress {
  std::string id;
  std::string routing = {};  ///< empty: none
  auto operator<=>(const DocumentAddress&) const = default;
};

struct StoredDocument {
  std::string json;  ///< canonical_json
  std::int64_t version = 0;
};

using StoredDocuments = std::map<DocumentAddress, StoredDocument>;  ///< of an index
using ExpectedDocuments = std::map<DocumentAddress, std::string>;   ///< of a view: canonical_json

/// "" when the index holds exactly the expected documents; else what is missing, surplus and different, the
/// first few of each.
std::string difference(const ExpectedDocuments& view, const StoredDocuments& index);

}  // namespace lockstep::support
