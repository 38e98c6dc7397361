// PostgreSQL's text form of arrays, in which values and ids travel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/ids.h"

namespace lockstep {

/// An array literal of text values, for a parameter that the statement casts.
std::string array_literal(const std::vector<std::string>& values);

/// An array literal of ids.
std::string ids_literal(const DocumentIds& ids);
std::string ids_literal(const std::vector<CaptureId>& captures);
std::string ids_literal(const std::vector<IndexId>& indices);

/// The values of an array literal of one dimension, without nulls. Throws Error for anything else.
std::vector<std::string> parse_array(std::string_view literal);

/// The value of an array literal that has just one, written without quotes, as most keys are; none for any
/// other literal, which parse_array() reads. It is a part of `literal`.
std::optional<std::string_view> single_plain_value(std::string_view literal);

}  // namespace lockstep
