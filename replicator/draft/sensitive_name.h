// Columns that `init` leaves out of a drafted view, since their names look like secrets or personal data.
#pragma once

#include <string_view>

namespace lockstep {

/// Whether a column of this name probably holds values that no search index should have: "password_hash",
/// "apiKey", "iban". Judged by the words of the name, in snake_case or camelCase.
bool looks_sensitive(std::string_view column);

}  // namespace lockstep
