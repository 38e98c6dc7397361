// What a view says its documents are, read by a way that has no code in common with the product.
#pragma once

#include <pqxx/pqxx>
#include <string>

#include "tests/support/documents.h"

namespace lockstep::support {

/// All rows of `view` (schema-qualified): _id and _routing as text, the columns whose names don't begin with
/// `_` as JSON.
ExpectedDocuments read_view(pqxx::connection& connection, const std::string& view);

}  // namespace lockstep::support
