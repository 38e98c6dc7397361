// The shape that the documents of a view have as it is now.
#pragma once

#include "replicator/source/index_definition.h"
#include "replicator/source/postgres/catalog/catalog.h"

namespace lockstep {

/// Parts that the view does not have are as in `is`.
DocumentShape shape_of(const PostgresRelation& view, const DocumentShape& is);

}  // namespace lockstep
