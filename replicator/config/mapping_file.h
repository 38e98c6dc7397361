// The mapping file of an index: {"settings": …, "mappings": …}, handed to Elasticsearch as it is. What can be
// told without Elasticsearch is checked here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replicator/config/text_checks.h"

namespace lockstep {

/// What is wrong with the content of a mapping file; JSON's syntax errors with line and column.
std::optional<TextFault> mapping_fault(std::string_view name, std::string_view content);

}  // namespace lockstep
