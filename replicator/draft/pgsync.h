// Translates a schema file of PGSync: each of its entries is an index.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replicator/draft/shape.h"
#include "replicator/source/definition.h"

namespace lockstep {

struct PgsyncIndex {
  std::string alias;
  DraftShape document;
  std::string settings;               ///< of the index, as JSON
  std::vector<Finding> untranslated;  ///< parts without a counterpart, with their place and a replacement
};

/// `name` is for messages. Throws UsageError, "<name>: <place>: <what>", for anything that PGSync would not
/// take either.
std::vector<PgsyncIndex> read_pgsync_schema(std::string_view name, std::string_view text);

}  // namespace lockstep
