// Documents that differ between an index and its view, a line for each.
#pragma once

#include <string>
#include <string_view>

#include "replicator/source/snapshot.h"

namespace lockstep {

/// `posts	different	"17"	routing "3"`, without an end of line.
std::string difference_text(std::string_view alias, std::string_view difference,
                            const FoundDocument& document);

}  // namespace lockstep
