// One text for each JSON value, so that documents can be compared as strings: no white space outside strings,
// one way to write each character; numbers stay exactly as they were written, since a document must not lose
// digits.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::support {

/// Key order is kept: a document's fields come in the view's order. Throws std::runtime_error for what isn't
/// JSON.
std::string canonical_json(std::string_view text);

}  // namespace lockstep::support
