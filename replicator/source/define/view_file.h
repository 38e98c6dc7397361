// The file of `lockstep init` that creates a view.
#pragma once

#include <string>

#include "replicator/config/config.h"
#include "replicator/source/sql_dialect.h"

namespace lockstep {

/// "create it first: psql … -f shop/products.sql" if a file of the view's own name, or of the alias, lies
/// next to the configuration file; otherwise empty.
std::string remedy_of_view_file(const Config& config, const IndexConfig& index, const SqlDialect& dialect);

}  // namespace lockstep
