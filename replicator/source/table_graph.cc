#include "replicator/source/table_graph.h"

#include <stdexcept>

namespace lockstep {

const GraphColumn& GraphTable::column(const std::string& quoted) const {
  for (const GraphColumn& column : columns) {
    if (column.quoted == quoted) return column;
  }
  throw std::logic_error("table " + name + " has no column " + quoted);
}

}  // namespace lockstep
