// A field of the documents, as far as a mapping needs to know it.
#pragma once

#include <string>
#include <vector>

#include "replicator/source/table_graph.h"

namespace lockstep {

struct DraftField {
  std::string name;
  ValueKind kind = ValueKind::kText;
  std::vector<DraftField> fields =
      {};                     ///< those inside of it, of a kObject that is known; else it is dynamic
  std::string mapping = {};   ///< JSON, if the description has it; else as its kind is mapped
  bool json_in_text = false;  ///< its texts are JSON, and the database does not know
};

}  // namespace lockstep
