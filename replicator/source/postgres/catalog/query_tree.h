// The meaning of a parsed query's records (node_tree.h), for all questions about a view: its tables,
// variables, conditions and `with` queries. The numbers are those of PostgreSQL's parsenodes.h, primnodes.h
// and nodes.h, the same in all supported versions.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "replicator/source/postgres/catalog/node_tree.h"
#include "replicator/source/postgres/session/transaction.h"

namespace lockstep {

/// A range table entry's rtekind.
enum RangeTableKind : long {
  kRelation = 0,
  kSubquery = 1,
  kJoin = 2,
  kFunction = 3,
  kTableFunction = 4,
  kValues = 5,
  kCte = 6,
  kGroup = 9
};
enum JoinKind : long { kInner = 0, kLeft = 1, kFull = 2, kRight = 3 };
enum SublinkKind : long { kExists = 0, kAny = 2, kRowCompare = 3, kArray = 6 };
enum ParameterKind : long { kOfFunction = 0, kOfSublink = 2 };

/// Whether the result is text, or varchar.
bool gives_text(const PostgresNode& cast);

bool is_true(const PostgresNode& node, std::string_view field);

/// The entry of a query's range table; null: it has none of this number.
const PostgresNode* entry_of(const PostgresNode& query, long number);

/// The relation that an entry is; 0: it is none.
unsigned relation_of(const PostgresNode& entry);

/// The expression behind a column of a join or of a grouping; null: it is unknown.
const PostgresNode* behind(const PostgresNode& entry, long column);
bool has_behind(const PostgresNode& entry);

/// The node without casts that keep its value, as from varchar to text.
const PostgresNode& without_label(const PostgresNode& node);

/// Whether it names a column of an entry of its own query.
bool is_own_column(const PostgresNode& node);

/// The conditions that must all hold if this one does.
std::vector<const PostgresNode*> conjuncts(const PostgresNode& condition);

/// The two sides of a binary operator; none: it is none.
using Sides = std::pair<const PostgresNode&, const PostgresNode&>;
std::optional<Sides> sides_of(const PostgresNode& node);

/// The same if the operator is the "=" of a B-tree.
std::optional<Sides> equal_sides(PostgresTransaction& transaction, const PostgresNode& node);

/// The `with` query of this name that a query has; null: it has none.
const PostgresNode* with_query(const PostgresNode& query, std::string_view name);

/// The query that a view is. Throws NodeTreeError.
PostgresNode tree_of_view(PostgresTransaction& transaction, unsigned view);

}  // namespace lockstep
