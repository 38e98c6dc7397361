// A document described for another tool: which columns of which tables, under which names, and how a table's
// rows belong to those above. draft_view() makes a view of it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep {

/// A table's rows in the document. Names are not quoted.
struct DraftShape {
  enum class Rows {
    kOne,   ///< an object, or a value
    kMany,  ///< an array of them
  };
  enum class Row {
    kObject,
    kValue,  ///< of its only column
  };
  std::string place;  ///< in the description, for faults: "[0].nodes.children[2]"
  std::string table;  ///< as table_called() takes it
  std::string field;  ///< of the document, or of the object above
  Rows rows = Rows::kMany;
  Row row = Row::kObject;
  std::vector<std::string> columns;             ///< empty: all
  std::map<std::string, std::string> renamed;   ///< field by column; the others are called as their column
  std::map<std::string, std::string> mappings;  ///< JSON by field, if the description has it
  std::string routing;                          ///< of the documents' own table: the column; empty: none
  std::string through;                          ///< a table that links it to the one above; empty: none
  /// The columns that equal those of the table above; empty: as in the foreign key.
  std::vector<std::string> own_columns = {};
  std::vector<std::string> columns_above = {};
  std::vector<DraftShape> parts = {};
};

}  // namespace lockstep
