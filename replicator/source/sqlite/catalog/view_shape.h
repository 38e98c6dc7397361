// The shape that the documents of a view have as it is now.
#pragma once

#include "replicator/source/index_definition.h"
#include "replicator/source/sqlite/catalog/table.h"

namespace lockstep {

/// The type of _id, which only rows have, is as in `is`.
DocumentShape shape_of(const SqliteTable& view, const DocumentShape& is);

}  // namespace lockstep
