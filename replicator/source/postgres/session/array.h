// PostgreSQL's text form of arrays, in which values and ids travel.
#pragma once

#include <string>
#include <string_view>

#include "replicator/source/source.h"

namespace lockstep {

/// An array literal of text values, for a parameter that the statement casts.
std::string array_literal(const Values& values);

/// The values of an array literal; nulls are left out.
Values parse_array(std::string_view literal);

}  // namespace lockstep
