#include "replicator/source/sqlite/catalog/view_shape.h"

namespace lockstep {

DocumentShape shape_of(const SqliteTable& view, const DocumentShape& is) {
  DocumentShape shape{view.name, is.id_type, false, {}};
  for (const SqliteTableColumn& column : view.columns) {
    if (column.name == "_routing") shape.routed = true;
    if (!column.name.starts_with('_')) shape.fields.push_back(column.name);
  }
  return shape;
}

}  // namespace lockstep
