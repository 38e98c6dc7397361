// What an index holds, read by a way that has no code in common with the product.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/documents.h"
#include "tests/support/elasticsearch_index.h"

namespace lockstep::support {

/// Every document that a search of `index` finds after a refresh: an alias, or a real index. Throws
/// std::runtime_error when it is missing.
StoredDocuments read_index(ElasticsearchServer& server, const std::string& index);

/// The raw text of each hit's _source, in the reply's order, with all of its digits.
std::vector<std::string_view> raw_sources(std::string_view reply);

StoredDocument stored_document(const nlohmann::json& hit, std::string_view source);

}  // namespace lockstep::support
