// The common parts of replies with documents: the elements of a multi-get's and the hits of a search's.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "replicator/elasticsearch/read/stored_document.h"
#include "replicator/error.h"

namespace lockstep {

/// One element of a multi-get's reply, or one hit of a search.
struct FetchedDocument {
  StoredDocument document;
  bool found = false;  ///< by a multi-get
  bool has_version = false;
  std::string_view error;  ///< raw JSON; empty: none
};

/// False if `value` is neither. The result is valid as long as the reply is.
bool read_fetched(simdjson::simdjson_result<simdjson::ondemand::value> value, FetchedDocument& fetched);

/// Throws Error if the reply has no contents.
void require_source(const std::string& doing, const StoredDocument& document);

/// Throws a retryable Error if not all shards have answered a search.
void require_all_shards(const std::string& doing, simdjson::ondemand::document& reply);

/// The reply is not complete JSON, or not the expected one.
Error unreadable(const std::string& doing);

}  // namespace lockstep
