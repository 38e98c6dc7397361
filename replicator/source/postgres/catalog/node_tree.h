// PostgreSQL's parsed queries as pg_rewrite.ev_action and pg_proc.prosqlbody keep them: text such as
//
//   ({QUERY :commandType 1 :rtable ({RANGETBLENTRY :rtekind 0 :relid 16400 …}) :targetList ({TARGETENTRY …})
//   …})
//
// The fields differ a little between the server's versions; a reader must do without the ones that are
// missing.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct PostgresNodeField;

struct PostgresNode {
  enum class Kind { kNull, kAtom, kList, kRecord };
  Kind kind = Kind::kNull;
  std::string text;                       ///< of an atom, without its escapes; a record's name
  std::vector<PostgresNode> items;        ///< of a list
  std::vector<PostgresNodeField> fields;  ///< of a record; a constant's bytes are left out

  bool is(std::string_view record) const { return kind == Kind::kRecord && text == record; }

  /// A record's field; null if it is missing or null.
  const PostgresNode* field(std::string_view name) const;

  /// A record's field as a number; `missing` when there is none.
  long number(std::string_view name, long missing) const;

  /// The items of a record's field that is a list; empty if there is none.
  const std::vector<PostgresNode>& list(std::string_view name) const;
};

struct PostgresNodeField {
  std::string name;
  PostgresNode value;
};

/// A text that is no node tree, or is one of a server too new for this.
class NodeTreeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws NodeTreeError.
PostgresNode parse_node_tree(std::string_view text);

}  // namespace lockstep
