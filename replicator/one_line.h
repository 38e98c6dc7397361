// Foreign messages in one line, for errors and logs.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// Each run of spaces and control characters becomes one space, none at the ends. That removes line feeds
/// (libpq's details and hints, quoted documents) and NULs, which PostgreSQL's text cannot hold.
std::string in_one_line(std::string_view text);

}  // namespace lockstep
