#include "replicator/source/postgres/catalog/view_links.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "replicator/source/postgres/catalog/catalog.h"
#include "replicator/source/postgres/catalog/place_conditions.h"
#include "replicator/source/postgres/catalog/query_tree.h"
#include "replicator/source/postgres/catalog/row_partitions.h"
#include "replicator/source/postgres/catalog/view_reads.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

constexpr long kIsNotNull = 1;   // a NULLTEST's kind
constexpr int kMostNested = 64;  // views, functions and subqueries in one another

struct PlaceColumn {
  std::size_t place;
  int column;
  bool is_cast;  // the value is the text of the column's
};
// Where a value comes from: one column, or one of each branch of a union. Empty: unknown.
using Origins = std::vector<PlaceColumn>;
using Output = std::vector<Origins>;  // by column, from 0

Origins at(const Output& output, long number) {
  const auto index = static_cast<std::size_t>(number - 1);
  return number > 0 && index < output.size() ? output[index] : Origins{};
}

// The places that one side of a join has, as they were numbered.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool contains(std::size_t place) const { return begin <= place && place < end; }
  bool touches(const PlacePair& places) const { return contains(places.first) || contains(places.second); }
};

class Walker {
 public:
  explicit Walker(PostgresTransaction& transaction) : transaction_(transaction) {}

  ViewLinks walk(unsigned view, int id) {
    id_target_ = id;
    const Output output = in_view(view);
    const Origins documents = at(output, id);
    ViewLinks links;
    links.tables = tables_;
    links.branches = std::move(places_branches_);
    links.recursive = is_recursive_;
    if (is_id_known_) links.id_columns = std::move(id_columns_);
    for (const auto& [places, sets] : conditions_) {
      for (const EqualColumns& columns : sets) links.links.push_back({places.first, places.second, columns});
    }
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (output[i].size() != 1 || output[i].front().is_cast) continue;
      links.columns[static_cast<int>(i) + 1] = {output[i].front().place, output[i].front().column};
    }
    // A step of a recursion gives rows to the next one.
    if (!is_recursive_ || documents.size() == 1) {
      for (const PlaceColumn& document : documents) links.documents.emplace(document.place, document.column);
    }
    links.partitions = std::move(partitions_);
    return links;
  }

 private:
  // One query, and its knowledge of the tables of its `from`.
  struct Scope {
    const PostgresNode* query;
    std::map<long, Output> outputs;       // by number of the range table entry
    std::map<long, std::size_t> places;   // those that are a place themselves
    std::map<std::string, Output> begun;  // recursive queries that are being walked, by name
    std::size_t begin = 0;                // its first place
  };

  // --- queries ---

  // Runs `walk` as if it stood in none of the queries around, or only in those of the first levels.
  template <typename Walk>
  Output outside(std::size_t levels, const Walk& walk) {
    if (++nested_ > kMostNested) throw NodeTreeError("its parts are nested too deeply");
    std::vector<Scope> hidden(std::make_move_iterator(scopes_.begin() + static_cast<std::ptrdiff_t>(levels)),
                              std::make_move_iterator(scopes_.end()));
    scopes_.resize(levels);
    Output output = walk();
    std::move(hidden.begin(), hidden.end(), std::back_inserter(scopes_));
    --nested_;
    return output;
  }

  Output in_view(unsigned view) {
    const PostgresNode tree = tree_of_view(transaction_, view);
    if (tree.items.size() != 1) throw NodeTreeError("a view of several queries");
    return outside(0, [&] { return in_query(tree.items.front()); });
  }

  Output in_query(const PostgresNode& query, const std::string& recursive = {}) {
    if (scopes_.size() > kMostNested) throw NodeTreeError("its queries are nested too deeply");
    scopes_.push_back({&query, {}, {}, {}, tables_.size()});
    const std::size_t begin = tables_.size();
    const long id = std::exchange(id_target_, 0);
    if (const PostgresNode* tree = query.field("jointree")) in_from(*tree);
    Output output;
    if (const PostgresNode* operations = query.field("setOperations")) {
      output = in_branches(*operations, recursive, id);
    } else {
      for (const PostgresNode& target : query.list("targetList")) {
        const long number = target.number("resno", 0);
        if (number <= 0 || target.field("expr") == nullptr) continue;
        if (output.size() < static_cast<std::size_t>(number)) output.resize(static_cast<std::size_t>(number));
        output[static_cast<std::size_t>(number - 1)] = origins_of(*target.field("expr"));
        if (number == id) is_id_known_ = add_columns(*target.field("expr"), id_columns_) && is_id_known_;
      }
    }
    for (const auto& [name, value] : query.fields) {
      if (name != "rtable" && name != "cteList" && name != "targetList") in_expressions(value);
    }
    std::set<std::size_t> aside;  // places that change a row, and no other one
    for (const PostgresNode& target : query.list("targetList")) {
      std::size_t place = tables_.size();
      in_expressions(target);
      for (; place < tables_.size() && !decides(query, target); ++place) aside.insert(place);
    }
    if (const PostgresNode* having = query.field("havingQual")) add_and(conditions_, condition_of(*having));
    add_partitions(query, begin, aside);
    for (std::size_t place = begin; place < tables_.size() && !passes_rows(query); ++place)
      picked_.insert(place);
    scopes_.pop_back();
    return output;
  }

  // REQUIRES: the query is walked, and its places are those from `begin` on.
  void add_partitions(const PostgresNode& query, std::size_t begin, const std::set<std::size_t>& aside) {
    const auto is_chosen = [&](const auto& some) {
      return some.first.first < begin && begin <= some.first.second;
    };
    if (std::any_of(conditions_.begin(), conditions_.end(), is_chosen) || is_correlated(query)) return;
    ++levels_;
    for (const RowPartition& rows : partitions_of(query)) {
      ViewPartition partition{.clause = rows.clause,
                              .level = levels_,
                              .begin = begin,
                              .end = tables_.size(),
                              .present = present_};
      for (std::size_t place = begin; place < partition.end; ++place) {
        if (!aside.contains(place)) partition.deciding.insert(place);
      }
      for (const PostgresNode* const expression : rows.by) add_value(*expression, partition);
      connect(partition, conditions_, optional_);
      partitions_.push_back(std::move(partition));
    }
  }

  // The common value of the partition's rows: a column, one of each branch of a union, or an expression.
  void add_value(const PostgresNode& expression, ViewPartition& partition) {
    const Origins origins = origins_of(expression);
    for (const PlaceColumn& origin : origins) partition.shared.emplace(origin.place, origin.column);
    if (origins.size() == 1 && is_row(origins.front().place))
      partition.anchors[origins.front().place].insert(origins.front().column);
    std::set<ColumnOfPlace> columns;
    if (!origins.empty() || !add_columns(expression, columns) || columns.empty()) return;
    const std::size_t place = columns.begin()->first;
    const bool is_of_one_row = std::all_of(columns.begin(), columns.end(),
                                           [&](const auto& column) { return column.first == place; });
    if (is_of_one_row && is_row(place)) partition.expressed.insert(columns.begin(), columns.end());
  }

  // Whether a value of this place is that of a row of a table, wherever the query has a row: not of one that
  // was picked, and none that may be missing.
  bool is_row(std::size_t place) const { return !picked_.contains(place) && !optional_.contains(place); }

  // The columns that an expression is made of. False: it depends on more.
  bool add_columns(const PostgresNode& node, std::set<ColumnOfPlace>& columns) {
    if (node.is("VAR")) {
      const Origins origins = origins_of(node);
      for (const PlaceColumn& origin : origins) columns.emplace(origin.place, origin.column);
      return origins.size() == 1;
    }
    if (node.is("SUBLINK") || node.is("AGGREF") || node.is("WINDOWFUNC") || node.is("PARAM")) return false;
    if (node.is("FUNCEXPR") && node.number("funcid", 0) >= kFirstOwnOid) return false;
    return std::all_of(node.items.begin(), node.items.end(),
                       [&](const PostgresNode& item) { return add_columns(item, columns); }) &&
           std::all_of(node.fields.begin(), node.fields.end(),
                       [&](const PostgresNodeField& field) { return add_columns(field.value, columns); });
  }

  // Of union, intersect and except: a row comes from any of them.
  Output in_branches(const PostgresNode& node, const std::string& recursive, long id) {
    if (node.is("RANGETBLREF")) {
      id_target_ = id;
      const long number = node.number("rtindex", 0);
      in_entry(number);
      return scopes_.back().outputs[number];
    }
    if (node.field("larg") == nullptr || node.field("rarg") == nullptr) return {};
    const int number = recursive.empty() ? ++operations_ : 0;
    if (number != 0) branches_[number] = 0;
    Output output = in_branches(*node.field("larg"), recursive, id);
    if (number != 0) branches_[number] = 1;
    if (!recursive.empty()) scopes_[scopes_.size() - 2].begun[recursive] = output;
    const Output other = in_branches(*node.field("rarg"), recursive, id);
    branches_.erase(number);
    for (std::size_t i = 0; i < output.size(); ++i) {
      const Origins more = at(other, static_cast<long>(i) + 1);
      // A column that one branch does not show is not known.
      if (more.empty()) output[i].clear();
      if (!output[i].empty()) output[i].insert(output[i].end(), more.begin(), more.end());
    }
    return output;
  }

  // Returns the places in and below `node`.
  Range in_from(const PostgresNode& node) {
    Range range{tables_.size(), tables_.size()};
    if (node.is("RANGETBLREF")) {
      in_entry(node.number("rtindex", 0));
    } else if (node.is("FROMEXPR")) {
      for (const PostgresNode& item : node.list("fromlist")) in_from(item);
      if (const PostgresNode* condition = node.field("quals")) {
        add_condition(condition_of(*condition));
        add_present(*condition);
      }
    } else if (node.is("JOINEXPR") && node.field("larg") != nullptr && node.field("rarg") != nullptr) {
      const Range left = in_from(*node.field("larg"));
      const Range right = in_from(*node.field("rarg"));
      const long kind = node.number("jointype", -1);
      if (kind == kLeft || kind == kFull) add_optional(right);
      if (kind == kRight || kind == kFull) add_optional(left);
      if (const PostgresNode* condition = node.field("quals")) {
        add_join(kind, left, right, condition_of(*condition));
        if (kind == kInner) add_present(*condition);
      }
    }
    range.end = tables_.size();
    return range;
  }

  // The rows of an outer join's own side are there regardless of its condition.
  void add_join(long kind, const Range& left, const Range& right, PlaceCondition condition) {
    std::erase_if(condition, [&](const auto& some) {
      if (kind == kInner) return false;
      if (kind == kLeft) return !right.touches(some.first);
      if (kind == kRight) return !left.touches(some.first);
      return !left.touches(some.first) || !right.touches(some.first);
    });
    add_condition(std::move(condition));
  }

  // What a query asks of the rows around it decides about its own alone.
  void add_condition(PlaceCondition condition) {
    std::erase_if(condition, [&](const auto& some) { return some.first.second < scopes_.back().begin; });
    add_and(conditions_, condition);
  }

  void add_optional(const Range& range) {
    for (std::size_t place = range.begin; place < range.end; ++place) optional_.insert(place);
  }

  // A null is neither equal nor not null.
  void add_present(const PostgresNode& condition) {
    for (const PostgresNode* const part : conjuncts(condition)) {
      const PostgresNode* const value = part->field("arg");
      if (part->is("NULLTEST") && part->number("nulltesttype", -1) == kIsNotNull && value != nullptr)
        add_present_value(*value);
      if (const std::optional<Sides> sides = equal_sides(transaction_, *part)) {
        add_present_value(sides->first);
        add_present_value(sides->second);
      }
    }
  }

  void add_present_value(const PostgresNode& value) {
    const Origins origins = origins_of(value);
    if (origins.size() == 1) present_.emplace(origins.front().place, origins.front().column);
  }

  void in_entry(long number) {
    const PostgresNode* const found = entry_of(*scopes_.back().query, number);
    if (found == nullptr) throw NodeTreeError("it names an entry that is not there");
    Output output;
    const PostgresNode* const query = found->field("subquery");
    switch (found->number("rtekind", -1)) {
      case kRelation:
        return in_relation(number, relation_of(*found));
      case kSubquery:
        if (query != nullptr) output = in_query(*query);
        break;
      case kCte:
        output = in_cte(*found);
        break;
      case kFunction:
        output = in_functions(*found);
        break;
      default:
        in_expressions(*found);
    }
    scopes_.back().outputs[number] = std::move(output);
  }

  void in_relation(long number, unsigned oid) {
    const PostgresRelation relation = describe_relation(transaction_, oid);
    if (relation.kind == 'v') {
      Output output = in_view(oid);
      scopes_.back().outputs[number] = std::move(output);
    } else {
      if (!relation.is_table()) picked_.insert(tables_.size());
      scopes_.back().places[number] = tables_.size();
      tables_.push_back(oid);
      places_branches_.push_back(branches_);
    }
  }

  // Each use of it is a place of its own.
  Output in_cte(const PostgresNode& use) {
    const auto up = static_cast<std::size_t>(use.number("ctelevelsup", 0));
    const PostgresNode* const wanted = use.field("ctename");
    if (up >= scopes_.size() || wanted == nullptr) return {};
    const std::size_t level = scopes_.size() - 1 - up;
    if (const auto begun = scopes_[level].begun.find(wanted->text); begun != scopes_[level].begun.end())
      return begun->second;
    const PostgresNode* const cte = with_query(*scopes_[level].query, wanted->text);
    const PostgresNode* const body = cte == nullptr ? nullptr : cte->field("ctequery");
    if (body == nullptr) return {};
    const std::string recursive = is_true(*cte, "cterecursive") ? wanted->text : "";
    is_recursive_ = is_recursive_ || !recursive.empty();
    Output output = outside(level + 1, [&] { return in_query(*body, recursive); });
    scopes_[level].begun.erase(wanted->text);
    return output;
  }

  Output in_functions(const PostgresNode& found) {
    Output output;
    for (const PostgresNode& function : found.list("functions")) {
      const PostgresNode* const call = function.field("funcexpr");
      if (call == nullptr) continue;
      output = call->is("FUNCEXPR") ? in_function(*call) : Output{};
      if (!call->is("FUNCEXPR")) in_expressions(*call);
    }
    return found.list("functions").size() == 1 ? output : Output{};
  }

  // --- expressions: the queries and functions in them ---

  void in_expressions(const PostgresNode& node) {
    for (const PostgresNode& item : node.items) in_expressions(item);
    if (node.kind != PostgresNode::Kind::kRecord || node.is("QUERY")) return;
    if (node.is("SUBLINK")) return in_sublink(node);
    if (node.is("FUNCEXPR") && node.number("funcid", 0) >= kFirstOwnOid) {
      in_function(node);
      return;
    }
    for (const auto& [name, value] : node.fields) in_expressions(value);
  }

  void in_sublink(const PostgresNode& node) {
    Output output;
    if (const PostgresNode* const query = node.field("subselect")) output = in_query(*query);
    const PostgresNode* const test = node.field("testexpr");
    if (test == nullptr) return;
    in_expressions(*test);
    const long kind = node.number("subLinkType", -1);
    if (kind != kAny && kind != kRowCompare) return;
    sublink_ = &output;
    add_and(conditions_, condition_of(*test));
    sublink_ = nullptr;
  }

  // Returns the result of its last statement.
  Output in_function(const PostgresNode& call) {
    std::vector<Origins> arguments;
    for (const PostgresNode& argument : call.list("args")) {
      arguments.push_back(origins_of(argument));
      in_expressions(argument);
    }
    const pqxx::result body = transaction_.look_up(postgres_sql("function_tree"), call.number("funcid", 0));
    if (body.empty() || body[0][0].is_null()) return {};
    const PostgresNode tree = parse_node_tree(body[0][0].c_str());
    std::size_t place = tables_.size();
    Output returned = outside(0, [&] {
      arguments.swap(arguments_);
      Output output = in_statements(tree);
      arguments.swap(arguments_);
      return output;
    });
    for (; place < tables_.size(); ++place) picked_.insert(place);  // it may return the first row alone
    return returned;
  }

  Output in_statements(const PostgresNode& node) {
    if (node.is("QUERY")) return in_query(node);
    Output output;
    for (const PostgresNode& item : node.items) output = in_statements(item);
    return output;
  }

  // --- equalities ---

  PlaceCondition condition_of(const PostgresNode& node) {
    PlaceCondition condition;
    if (node.is("BOOLEXPR") && node.field("boolop") != nullptr && node.field("boolop")->text != "not") {
      const bool all = node.field("boolop")->text == "and";
      for (const PostgresNode& part : node.list("args")) {
        const PlaceCondition other = condition_of(part);
        if (&part == &node.list("args").front())
          condition = other;
        else
          all ? add_and(condition, other) : add_or(condition, other);
      }
    } else if (const std::optional<Sides> sides = equal_sides(transaction_, node)) {
      const Origins left = origins_of(sides->first);
      for (const PlaceColumn& other : origins_of(sides->second)) {
        for (const PlaceColumn& some : left) add_equality(condition, some, other);
      }
    }
    return condition;
  }

  static void add_equality(PlaceCondition& condition, const PlaceColumn& some, const PlaceColumn& other) {
    if (some.place == other.place || some.is_cast || other.is_cast) return;
    const bool ordered = some.place < other.place;
    const PlaceColumn& first = ordered ? some : other;
    const PlaceColumn& second = ordered ? other : some;
    condition[{first.place, second.place}] = {{{first.column, second.column}}};
  }

  Origins origins_of(const PostgresNode& expression) {
    const PostgresNode* const node = &without_label(expression);
    if (node->is("COERCEVIAIO") && gives_text(*node) && node->field("arg") != nullptr) {
      Origins origins = origins_of(*node->field("arg"));
      for (PlaceColumn& origin : origins) origin.is_cast = true;
      return origins;
    }
    const long number = node->number(node->is("VAR") ? "varattno" : "paramid", 0);
    if (node->is("PARAM")) {
      const long kind = node->number("paramkind", -1);
      if (kind == kOfSublink && sublink_ != nullptr) return at(*sublink_, number);
      return kind == kOfFunction ? at(arguments_, number) : Origins{};
    }
    const auto up = static_cast<std::size_t>(node->number("varlevelsup", 0));
    if (!node->is("VAR") || number <= 0 || up >= scopes_.size()) return {};
    return of_entry(scopes_.size() - 1 - up, node->number("varno", 0), number);
  }

  Origins of_entry(std::size_t level, long entry_number, long column) {
    const Scope& scope = scopes_[level];
    if (const auto place = scope.places.find(entry_number); place != scope.places.end())
      return {{place->second, static_cast<int>(column), false}};
    if (const auto output = scope.outputs.find(entry_number); output != scope.outputs.end())
      return at(output->second, column);
    const PostgresNode* const found = entry_of(*scope.query, entry_number);
    const PostgresNode* const expression = found == nullptr ? nullptr : behind(*found, column);
    if (expression == nullptr) return {};
    return outside(level + 1, [&] { return Output{origins_of(*expression)}; }).front();
  }

  PostgresTransaction& transaction_;
  std::vector<Scope> scopes_;        // the current one, last, and those around it
  std::vector<Origins> arguments_;   // of the function whose body is walked
  const Output* sublink_ = nullptr;  // the columns of the query with whose rows a value is compared
  std::vector<unsigned> tables_;
  std::vector<std::map<int, int>> places_branches_;
  std::map<int, int> branches_;  // those that are being walked
  int operations_ = 0;           // union, intersect and except
  bool is_recursive_ = false;
  std::vector<ViewPartition> partitions_;
  std::size_t levels_ = 0;  // of partitions
  PlaceCondition conditions_;
  std::set<std::size_t> optional_;   // places that may have no row when the query around has one
  std::set<std::size_t> picked_;     // those whose rows may come out of their query, or not, for other rows
  std::set<ColumnOfPlace> present_;  // columns that are not null in any row that counts
  long id_target_ = 0;               // which column of the query that is walked next gives the _id; 0: none
  std::set<ColumnOfPlace> id_columns_;
  bool is_id_known_ = true;
  int nested_ = 0;
};

// What peers have in common, and which places lead to them.
void add_peers(const DescribeRelation& describe, const ViewPartition& partition, const ViewLinks& links,
               ViewGraph& graph) {
  for (const std::size_t place : partition.everywhere)
    graph.everywhere.emplace(graph.places[place].table, partition.clause);
  const std::optional<std::size_t> anchor = anchor_of(partition, links);
  if (!anchor || partition.everywhere == partition.deciding) return;
  ViewGraph::Peers peers{.place = *anchor,
                         .columns = {},
                         .nulls = {},
                         .deciding = partition.deciding,
                         .among = partition.connected.at(*anchor)};
  ColumnNames present, nullable;
  const PostgresRelation& table = describe(links.tables[*anchor]);
  for (const int number : partition.anchors.at(*anchor)) {
    const PostgresColumn& column = *table.column(number);
    const bool has_nulls = column.nullable && !partition.present.contains({*anchor, number});
    peers.columns.push_back(column.quoted);
    (has_nulls ? nullable : present).push_back(column.quoted);
  }
  graph.peers.push_back(peers);
  // Null is equal to nothing, and the rows without a value are a partition, too.
  peers.columns = present;
  for (const std::string& column : nullable) {
    peers.nulls = {column};
    graph.peers.push_back(peers);
  }
}

}  // namespace

std::optional<CommonOrigin> common_origin(const ViewLinks& links, int column) {
  const auto found = links.columns.find(column);
  if (links.documents.size() != 1 || found == links.columns.end()) return std::nullopt;
  const auto& [document, id_column] = *links.documents.begin();
  const auto& [place, number] = found->second;
  const unsigned table = links.tables[document];
  if (place == document) return CommonOrigin{table, id_column, number};
  std::optional<CommonOrigin> origin;
  for (const ViewLink& link : links.links) {
    const bool is_first = link.place == place && link.other == document;
    if (!is_first && (link.place != document || link.other != place)) continue;
    if (origin) return std::nullopt;  // one of two holds, and nobody knows which
    origin = CommonOrigin{table, id_column, 0};
    for (const auto& [some, other] : link.columns) {
      if ((is_first ? some : other) == number) origin->column = is_first ? other : some;
    }
  }
  return origin && origin->column != 0 ? origin : std::nullopt;
}

ViewGraph named_graph(PostgresTransaction& transaction, const ViewLinks& links,
                      const DescribeRelation& describe) {
  ViewGraph graph;
  std::vector<const PostgresRelation*> tables;
  std::vector<std::string> oids;
  for (std::size_t place = 0; place < links.tables.size(); ++place) {
    tables.push_back(&describe(links.tables[place]));
    graph.places.push_back({tables.back()->whole, links.branches[place]});
    oids.push_back(std::to_string(links.tables[place]));
  }
  for (const pqxx::row& key : transaction.run(postgres_sql("unique_keys"), array_literal(oids))) {
    const PostgresRelation& table = describe(key[1].as<unsigned>());
    ColumnNames& columns = graph.keys[table.whole].emplace_back();
    for (const std::string& number : parse_array(key[0].c_str()))
      columns.push_back(table.column(std::stoi(number))->quoted);
  }
  for (const ViewLink& link : links.links) {
    const PostgresRelation& table = *tables[link.place];
    const PostgresRelation& other = *tables[link.other];
    if (!table.is_table() || !other.is_table()) continue;
    ViewGraph::Link named{link.place, link.other, {}, {}};
    for (const auto& [column, equal] : link.columns) {
      named.columns.push_back(table.column(column)->quoted);
      named.other_columns.push_back(other.column(equal)->quoted);
    }
    graph.links.push_back(std::move(named));
  }
  for (const auto& [place, column] : links.documents) {
    if (tables[place]->is_table()) graph.documents[place] = tables[place]->column(column)->quoted;
  }
  for (const ViewPartition& partition : partitions_over_documents(links))
    add_peers(describe, partition, links, graph);
  return graph;
}

ViewLinks read_links(PostgresTransaction& transaction, unsigned view, int id) {
  return Walker(transaction).walk(view, id);
}

}  // namespace lockstep
