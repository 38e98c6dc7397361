// The limits of Elasticsearch and of our own keys for a document's name. A document beyond them is a dead
// letter.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep {

/// Elasticsearch's limit on the length of an _id, in bytes of UTF-8.
inline constexpr std::size_t kMaxIdBytes = 512;

/// Whether Elasticsearch takes this as an _id. It never has a document of another one, and refuses requests
/// that ask for one.
bool can_be_document_id(std::string_view id);

/// Ours on the length of a _routing: with an _id it makes a key of a table, and PostgreSQL takes no key above
/// 2,704 bytes.
inline constexpr std::size_t kMaxRoutingBytes = 1'024;

/// Ours on the depth of a document: some engines parse it by recursion, and Elasticsearch 7.10 ended at 5,000
/// levels, again at each start. Newer ones refuse more than 1,000.
inline constexpr std::size_t kMaxDepth = 1'000;

}  // namespace lockstep
