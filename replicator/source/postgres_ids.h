// Document ids that come from outside of the source: what Elasticsearch has under an alias may not even be a
// value of the view's _id.
#pragma once

#include <string>
#include <string_view>

#include "replicator/source/source.h"

namespace lockstep {

/// SQL that turns a text expression into a value comparable with the view's _id by an index; null when the
/// text is none of its type.
std::string castable_id(const AppliedIndex& index, std::string_view text);

/// The type of what castable_id() gives.
std::string_view castable_type(const AppliedIndex& index);

}  // namespace lockstep
