#include "replicator/source/postgres/catalog/view_shape.h"

namespace lockstep {

DocumentShape shape_of(const PostgresRelation& view, const DocumentShape& is) {
  DocumentShape shape{view.name, is.id_type, false, {}};
  for (const PostgresColumn& column : view.columns) {
    if (column.name == "_id") shape.id_type = column.type;
    if (column.name == "_routing") shape.routed = true;
    if (!column.name.starts_with('_')) shape.fields.push_back(column.name);
  }
  return shape;
}

}  // namespace lockstep
