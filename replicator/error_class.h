// An error's kind of trouble, in one word: for filtering logs.
#pragma once

#include <string_view>

#include "replicator/error.h"

namespace lockstep {

/// "source_away", "source_refuses", "elasticsearch_away", "elasticsearch_refuses": which server, and whether
/// a retry makes sense. "failed" when no server has to do with it.
std::string_view class_of(const Error& error);

}  // namespace lockstep
