// The mapping file of an index: {"settings": …, "mappings": …}, which Elasticsearch gets as it is. This
// checks it as far as possible without Elasticsearch.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replicator/config/text_checks.h"

namespace lockstep {

/// The fault in a mapping file's content. Syntax errors come with line and column.
std::optional<TextFault> mapping_fault(std::string_view name, std::string_view content);

}  // namespace lockstep
