// The mapping of documents whose fields are known.
#pragma once

#include <string>
#include <vector>

#include "replicator/draft/field.h"

namespace lockstep {

/// The JSON of a mapping file. A field that it does not have is refused ("dynamic": "strict"); inside of an
/// object of unknown fields every field is taken.
/// `settings` is JSON; empty: none.
std::string draft_mapping(const std::vector<DraftField>& fields, const std::string& settings = {});

}  // namespace lockstep
