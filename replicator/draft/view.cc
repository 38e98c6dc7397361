#include "replicator/draft/view.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "replicator/draft/sensitive_name.h"
#include "replicator/error.h"
#include "replicator/nearest_name.h"

namespace lockstep {
namespace {

struct PartColumn {
  const GraphColumn* column = nullptr;
  std::string field;    // its name in the document
  std::string mapping;  // as DraftField::mapping
};

// The place of one table's rows in the document.
struct Part {
  enum class Count {
    kOne,    // there is one at most
    kFirst,  // of several, the one with the least key
    kMany,
    kValues,  // the same, of a column instead of objects
  };

  const GraphTable* table = nullptr;
  std::string alias;
  std::vector<PartColumn> columns;
  std::vector<const GraphColumn*> left_out;
  Count count = Count::kOne;
  std::string field;
  std::string mapping;    // as DraftField::mapping
  std::string routing;    // the column of the root that gives it, quoted; empty: none
  std::size_t place = 0;  // in the view's graph
  std::string link;       // "join shop.order_tags as … on …" of that table
  std::string condition;
  std::set<std::string> taken;  // names of fields
  std::vector<std::unique_ptr<Part>> parts;
};

// A table of links has no key but those of two others.
bool links(const GraphTable& table, const ForeignKey& some, const ForeignKey& other) {
  ColumnNames columns = some.columns;
  columns.insert(columns.end(), other.columns.begin(), other.columns.end());
  const std::set<std::string> both(columns.begin(), columns.end());
  std::set<std::string> own(table.key.begin(), table.key.end());
  if (own.empty()) {
    for (const GraphColumn& column : table.columns) own.insert(column.quoted);
  }
  return both.size() == columns.size() && own == both;
}

class ViewDrafter {
 public:
  ViewDrafter(const TableGraph& graph, const GraphTable& root, const SqlDialect& dialect)
      : graph_(graph), dialect_(dialect) {
    root_.table = &root;
    root_.alias = new_alias(root);
    placed_.push_back(&root_);
    root_.place = add_place(root);
    view_.documents[root_.place] = root.key.front();
  }

  void place_all(std::vector<const GraphTable*> with) {
    with_ = std::move(with);
    take_every_column(root_);
    while (!with_.empty()) place_next();
  }

  void place_all(const DraftShape& shape) {
    take_columns(root_, shape);
    if (!shape.routing.empty())
      root_.routing = column_called(*root_.table, shape.routing, shape.place).quoted;
    for (const DraftShape& inner : shape.parts) place_shape(root_, inner);
  }

  DraftView draft(const std::string& name) {
    DraftView view{name, "", fields_of(root_), view_, {}};
    for (const ViewGraph::Place& place : view_.places) view.reads.insert(place.table);
    const std::string& key = root_.table->key.front();
    const std::string id = dialect_.as_value(root_.alias + "." + key, root_.table->column(key));
    const std::string routing =
        root_.routing.empty() ? "" : ",\n  " + root_.alias + "." + root_.routing + " as _routing";
    view.sql = "create view " + name + " as\nselect\n  " + id + " as _id" + routing + columns_of_root() +
               "\nfrom " + root_.table->name + " as " + root_.alias + ";\n";
    // A field of the root whose name begins with _ stays out of the document.
    std::erase_if(view.fields, [](const DraftField& field) { return field.name.starts_with('_'); });
    add_left_out(root_, "", view.left_out);
    return view;
  }

 private:
  // --- where each table goes ---

  void place_next() {
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      for (auto wanted = with_.begin(); wanted != with_.end(); ++wanted) {
        if (!place(*placed_[i], **wanted)) continue;
        with_.erase(wanted);
        return;
      }
    }
    throw UsageError("--with " + with_.front()->name + ": no foreign key and no table of links joins it to " +
                     root_.table->name +
                     " or to another of --with; name the tables between them, too, or write the view "
                     "yourself and give --view");
  }

  bool place(Part& at, const GraphTable& wanted) {
    bool found = false;
    for (const ForeignKey& key : at.table->foreign_keys) {
      if (key.table != wanted.name) continue;
      add_parent(at, wanted, key);
      found = true;
    }
    const std::vector<ForeignKey> keys = keys_to(wanted, *at.table);
    if (wanted.name != at.table->name) {
      for (const ForeignKey& key : keys) add_children(at, wanted, key, keys.size() > 1);
    }
    return found || !keys.empty() || place_behind_links(at, wanted);
  }

  static std::vector<ForeignKey> keys_to(const GraphTable& from, const GraphTable& to) {
    std::vector<ForeignKey> keys;
    std::copy_if(from.foreign_keys.begin(), from.foreign_keys.end(), std::back_inserter(keys),
                 [&](const ForeignKey& key) { return key.table == to.name; });
    return keys;
  }

  bool place_behind_links(Part& at, const GraphTable& wanted) {
    for (const auto& [name, link] : graph_) {
      for (const ForeignKey& near : link.foreign_keys) {
        for (const ForeignKey& far : link.foreign_keys) {
          if (&near == &far || near.table != at.table->name || far.table != wanted.name ||
              !links(link, near, far))
            continue;
          add_linked(at, wanted, link, near, far);
          return true;
        }
      }
    }
    return false;
  }

  void add_parent(Part& at, const GraphTable& parent, const ForeignKey& key) {
    std::string field = parent.own;
    if (key.columns.size() == 1 && key.period.empty()) {
      const std::string& column = at.table->column(key.columns.front()).name;
      if (column.ends_with("_id") && column.size() > 3) field = column.substr(0, column.size() - 3);
    }
    const Part::Count count = key.period.empty() ? Part::Count::kOne : Part::Count::kMany;
    Part& part = add_whole_part(at, parent, count, field);
    part.condition = equal(parent, part.alias, key.references, at.alias, key.columns) +
                     at_one_time(key, at.alias, part.alias);
    add_link(at.place, key.columns, part.place, key.references);
  }

  void add_children(Part& at, const GraphTable& child, const ForeignKey& key, bool one_of_several) {
    std::string field = child.own;
    if (one_of_several) field += "_by_" + child.column(key.columns.front()).name;
    Part& part = add_whole_part(at, child, Part::Count::kMany, field);
    part.condition = equal(child, part.alias, key.columns, at.alias, key.references) +
                     at_one_time(key, part.alias, at.alias);
    add_link(part.place, key.columns, at.place, key.references);
  }

  void add_linked(Part& at, const GraphTable& wanted, const GraphTable& link, const ForeignKey& near,
                  const ForeignKey& far) {
    Part& part = add_whole_part(at, wanted, Part::Count::kMany, wanted.own);
    const std::string alias = new_alias(link);
    part.link = "join " + link.name + " as " + alias + " on " +
                equal(link, alias, far.columns, part.alias, far.references) +
                at_one_time(far, alias, part.alias);
    part.condition =
        equal(link, alias, near.columns, at.alias, near.references) + at_one_time(near, alias, at.alias);
    const std::size_t between = add_place(link);
    add_link(between, near.columns, at.place, near.references);
    add_link(between, far.columns, part.place, far.references);
  }

  Part& add_part(Part& at, const GraphTable& table, Part::Count count, const std::string& wanted_field) {
    auto part = std::make_unique<Part>();
    part->table = &table;
    part->alias = new_alias(table);
    part->place = add_place(table);
    part->count = count;
    part->field = free_name(at.taken, wanted_field);
    placed_.push_back(part.get());
    at.parts.push_back(std::move(part));
    return *at.parts.back();
  }

  Part& add_whole_part(Part& at, const GraphTable& table, Part::Count count,
                       const std::string& wanted_field) {
    Part& part = add_part(at, table, count, wanted_field);
    take_every_column(part);
    return part;
  }

  static void take_every_column(Part& part) {
    for (const GraphColumn& column : part.table->columns) {
      if (is_sensitive(*part.table, column)) {
        part.left_out.push_back(&column);
        continue;
      }
      part.columns.push_back({&column, column.name, {}});
      part.taken.insert(column.name);
    }
  }

  // A key is needed, and whether or when there is a password is no secret.
  static bool is_sensitive(const GraphTable& table, const GraphColumn& column) {
    const auto is_in = [&](const ColumnNames& columns) {
      return std::find(columns.begin(), columns.end(), column.quoted) != columns.end();
    };
    return looks_sensitive(column.name) && column.kind != ValueKind::kBoolean &&
           column.kind != ValueKind::kDate && column.kind != ValueKind::kDateText && !is_in(table.key) &&
           std::none_of(table.foreign_keys.begin(), table.foreign_keys.end(),
                        [&](const ForeignKey& key) { return is_in(key.columns); });
  }

  static void add_left_out(const Part& part, const std::string& above, std::vector<LeftOutColumn>& all) {
    for (const GraphColumn* column : part.left_out)
      all.push_back(
          {part.table->name + "." + column->quoted, above + column->name, part.alias + "." + column->quoted});
    for (const auto& inner : part.parts) add_left_out(*inner, above + inner->field + ".", all);
  }

  // --- places in a description ---

  static const GraphColumn& column_called(const GraphTable& table, const std::string& name,
                                          const std::string& place) {
    for (const GraphColumn& column : table.columns) {
      if (column.name == name) return column;
    }
    throw UsageError(place + ": " + table.name + " has no column " + name);
  }

  static void take(Part& part, const GraphColumn& column, const DraftShape& shape) {
    const auto renamed = shape.renamed.find(column.name);
    const std::string field = renamed == shape.renamed.end() ? column.name : renamed->second;
    const auto mapping = shape.mappings.find(field);
    if (!part.taken.insert(field).second)
      throw UsageError(shape.place + ": the field " + field + " is there twice");
    part.columns.push_back({&column, field, mapping == shape.mappings.end() ? "" : mapping->second});
  }

  static void take_columns(Part& part, const DraftShape& shape) {
    if (shape.columns.empty()) {
      for (const GraphColumn& column : part.table->columns) take(part, column, shape);
    }
    for (const std::string& name : shape.columns)
      take(part, column_called(*part.table, name, shape.place), shape);
  }

  static ColumnNames quoted_columns(const GraphTable& table, const std::vector<std::string>& names,
                                    const std::string& place) {
    ColumnNames quoted;
    for (const std::string& name : names) quoted.push_back(column_called(table, name, place).quoted);
    return quoted;
  }

  // The one way in which a foreign key joins two tables, from either side.
  struct Join {
    ColumnNames columns;
    ColumnNames others;
  };
  static Join join_between(const GraphTable& some, const GraphTable& other, const std::string& place) {
    std::vector<Join> joins;
    for (const ForeignKey& key : keys_to(some, other)) joins.push_back({key.columns, key.references});
    if (some.name != other.name) {
      for (const ForeignKey& key : keys_to(other, some)) joins.push_back({key.references, key.columns});
    }
    if (joins.size() == 1) return joins.front();
    throw UsageError(place + ": " + (joins.empty() ? "no foreign key joins " : "several foreign keys join ") +
                     some.name + " and " + other.name + "; name the columns that are equal");
  }

  void place_shape(Part& at, const DraftShape& shape) {
    const GraphTable& table = called(shape.table, shape.place);
    const std::string field = shape.field;
    if (at.taken.contains(field)) throw UsageError(shape.place + ": the field " + field + " is there twice");
    Part& part = add_part(at, table, Part::Count::kMany, field);
    take_columns(part, shape);
    const bool is_value = shape.row == DraftShape::Row::kValue;
    bool is_single = false;
    if (!shape.through.empty()) {
      join_through(at, part, called(shape.through, shape.place), shape.place);
    } else {
      Join join;
      if (shape.own_columns.empty()) {
        join = join_between(table, *at.table, shape.place);
      } else {
        join = {quoted_columns(table, shape.own_columns, shape.place),
                quoted_columns(*at.table, shape.columns_above, shape.place)};
      }
      part.condition = equal(table, part.alias, join.columns, at.alias, join.others);
      if (shape.own_columns.empty()) part.condition += at_one_time(table, part.alias, *at.table, at.alias);
      is_single = join.columns == table.key;
      add_link(part.place, join.columns, at.place, join.others);
    }
    if (shape.rows == DraftShape::Rows::kOne)
      part.count = is_single ? Part::Count::kOne : Part::Count::kFirst;
    else if (is_value)
      part.count = Part::Count::kValues;
    if (is_value && !shape.parts.empty()) throw UsageError(shape.place + ": nothing can be part of a value");
    const auto mapping = shape.mappings.find(field);
    if (mapping != shape.mappings.end()) part.mapping = mapping->second;
    for (const DraftShape& inner : shape.parts) place_shape(part, inner);
  }

  void join_through(const Part& at, Part& part, const GraphTable& link, const std::string& place) {
    const Join far = join_between(link, *part.table, place);
    const Join near = join_between(link, *at.table, place);
    const std::string alias = new_alias(link);
    part.link = "join " + link.name + " as " + alias + " on " +
                equal(link, alias, far.columns, part.alias, far.others) +
                at_one_time(link, alias, *part.table, part.alias);
    part.condition = equal(link, alias, near.columns, at.alias, near.others) +
                     at_one_time(link, alias, *at.table, at.alias);
    const std::size_t between = add_place(link);
    add_link(between, near.columns, at.place, near.others);
    add_link(between, far.columns, part.place, far.others);
  }

  const GraphTable& called(const std::string& name, const std::string& place) const {
    try {
      return table_called(graph_, name);
    } catch (const UsageError& error) {
      throw UsageError(place + ": " + error.what());
    }
  }

  std::size_t add_place(const GraphTable& table) {
    if (!view_.keys.contains(table.name)) view_.keys[table.name] = {table.key};
    view_.places.push_back({table.name});
    return view_.places.size() - 1;
  }

  void add_link(std::size_t place, const ColumnNames& columns, std::size_t other, const ColumnNames& others) {
    view_.links.push_back({place, other, columns, others});
  }

  static std::string free_name(std::set<std::string>& taken, const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; !taken.insert(name).second; ++number) name = wanted + "_" + std::to_string(number);
    return name;
  }

  static std::string quoted_as(const std::string& like, const std::string& name) {
    if (!like.starts_with('"')) return name;
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
  }

  std::string new_alias(const GraphTable& table) {
    return quoted_as(table.alias, free_name(aliases_, table.own));
  }

  static std::string equal(const GraphTable& table, const std::string& alias, const ColumnNames& columns,
                           const std::string& other, const ColumnNames& others) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += (text.empty() ? "" : " and ") + alias + "." + columns[i] + " " +
              table.column(columns[i]).equality + " " + other + "." + others[i];
    return text;
  }

  // Rows of a temporal key belong together as long as both are valid.
  static std::string at_one_time(const ForeignKey& key, const std::string& alias, const std::string& other) {
    return key.period.empty()
               ? ""
               : " and " + other + "." + key.referenced_period + " && " + alias + "." + key.period;
  }

  // REQUIRES: one foreign key joins the two tables, from either side.
  static std::string at_one_time(const GraphTable& some, const std::string& alias, const GraphTable& other,
                                 const std::string& other_alias) {
    for (const ForeignKey& key : keys_to(some, other)) return at_one_time(key, alias, other_alias);
    for (const ForeignKey& key : keys_to(other, some)) return at_one_time(key, other_alias, alias);
    return "";
  }

  // --- layout ---

  // Each on a line of its own, behind a comma.
  std::string columns_of_root() const {
    std::string text;
    for (const JsonRows::Field& field : fields_of_rows(root_, "  ")) {
      if (field.column != nullptr && field.name == "_id") continue;  // it is there already
      text += ",\n  " + field.expression + (field.is_called_so() ? "" : " as " + field.as);
    }
    return text;
  }

  std::vector<JsonRows::Field> fields_of_rows(const Part& part, const std::string& indent) const {
    std::vector<JsonRows::Field> fields;
    for (const PartColumn& each : part.columns) {
      const bool is_renamed = each.field != each.column->name;
      fields.push_back({each.field, part.alias + "." + each.column->quoted, each.column,
                        is_renamed ? dialect_.label(each.field) : each.column->quoted});
    }
    for (const auto& inner : part.parts)
      fields.push_back({inner->field, rows_of(*inner, indent), nullptr, dialect_.label(inner->field)});
    return fields;
  }

  std::string rows_of(const Part& part, const std::string& indent) const {
    JsonRows rows;
    rows.fields = fields_of_rows(part, indent + "      ");
    rows.alias = part.alias;
    rows.from.push_back("from " + part.table->name + " as " + part.alias);
    if (!part.link.empty()) rows.from.push_back(part.link);
    rows.from.push_back("where " + part.condition);
    if (part.count == Part::Count::kFirst)
      rows.from.push_back(order_of(part) + (order_columns(*part.table).empty() ? "limit 1" : " limit 1"));
    if (part.count == Part::Count::kOne || part.count == Part::Count::kFirst)
      return dialect_.json_object(rows, indent);
    const auto is_taken = [&](const std::string& key) {
      return std::any_of(part.columns.begin(), part.columns.end(), [&](const PartColumn& each) {
        return each.column->quoted == key && each.field == each.column->name;
      });
    };
    const ColumnNames order = order_columns(*part.table);
    if (std::all_of(order.begin(), order.end(), is_taken))
      rows.order = order;
    else
      rows.from.push_back(order_of(part));
    return part.count == Part::Count::kValues ? dialect_.json_values(rows, indent)
                                              : dialect_.json_array(rows, indent);
  }

  // Without a key: all that a database can order by.
  static ColumnNames order_columns(const GraphTable& table) {
    if (!table.key.empty()) return table.key;
    ColumnNames order;
    for (const GraphColumn& column : table.columns) {
      const bool has_order = column.kind != ValueKind::kObject && column.kind != ValueKind::kMixed &&
                             column.kind != ValueKind::kOpaque && !column.json_in_text;
      if (has_order) order.push_back(column.quoted);
    }
    return order;
  }

  static std::string order_of(const Part& part) {
    std::string order;
    for (const std::string& column : order_columns(*part.table))
      order += (order.empty() ? "order by " : ", ") + part.alias + "." + column;
    return order;
  }

  std::vector<DraftField> fields_of(const Part& part) const {
    std::vector<DraftField> fields;
    for (const PartColumn& each : part.columns)
      fields.push_back({each.field, each.column->kind, {}, each.mapping, each.column->json_in_text});
    for (const auto& inner : part.parts) {
      std::vector<DraftField> inside = fields_of(*inner);
      if (inner->count == Part::Count::kValues) {
        DraftField values = std::move(inside.front());
        values.name = inner->field;
        values.json_in_text = !dialect_.has_json_type();
        fields.push_back(std::move(values));
      } else {
        fields.push_back(
            {inner->field, ValueKind::kObject, std::move(inside), inner->mapping, !dialect_.has_json_type()});
      }
    }
    return fields;
  }

  const TableGraph& graph_;
  const SqlDialect& dialect_;
  std::vector<const GraphTable*> with_;  // not placed yet
  Part root_;
  std::vector<Part*> placed_;  // in this order
  std::set<std::string> aliases_;
  ViewGraph view_;
};

enum class Letters { kAsWritten, kLower };

std::string in_letters(std::string text, Letters letters) {
  if (letters == Letters::kLower)
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<const GraphTable*> tables_called(const TableGraph& graph, const std::string& name,
                                             Letters letters) {
  const std::string wanted = in_letters(name, letters);
  std::vector<const GraphTable*> found;
  for (const auto& [full, table] : graph) {
    const auto names = {table.alias, table.own, table.schema + "." + table.own};
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& known) { return in_letters(known, letters) == wanted; }))
      found.push_back(&table);
  }
  return found;
}

const GraphTable& root_called(const TableGraph& graph, const std::string& name) {
  const GraphTable& root = table_called(graph, name);
  if (root.key.size() == 1) return root;
  throw UsageError(root.name +
                   (root.key.empty() ? " has no primary key" : " has a primary key of several columns") +
                   ", and an _id is one value; write a view by hand that has one, and use --view");
}

}  // namespace

const GraphTable& table_called(const TableGraph& graph, const std::string& name) {
  if (const auto found = graph.find(name); found != graph.end()) return found->second;
  for (const Letters letters : {Letters::kAsWritten, Letters::kLower}) {
    const std::vector<const GraphTable*> found = tables_called(graph, name, letters);
    if (found.size() > 1)
      throw UsageError(name + " may be " + found[0]->name + " or " + found[1]->name +
                       "; name it with its schema");
    if (found.size() == 1) return *found.front();
  }
  std::map<std::string_view, std::string_view> full_names;  // by possible meaning
  for (const auto& [full, table] : graph) {
    full_names.emplace(full, full);
    full_names.emplace(table.own, full);
  }
  std::vector<std::string_view> known;
  for (const auto& [meant, full] : full_names) known.push_back(meant);
  if (const auto nearest = nearest_name(name, known))
    throw UsageError("there is no table " + name + "; did you mean " + std::string(full_names.at(*nearest)) +
                     "?");
  std::string remedy = "there are";
  for (const auto& [full, table] : graph) {
    if (!table.schema.empty())
      throw UsageError("there is no table " + name + "; name it with its schema: shop.orders");
    remedy += " " + full;
  }
  throw UsageError("there is no table " + name + "; " + (graph.empty() ? "there are none" : remedy));
}

DraftView draft_view(const TableGraph& graph, const std::string& view, const std::string& table,
                     const std::vector<std::string>& with, const SqlDialect& dialect) {
  ViewDrafter drafter(graph, root_called(graph, table), dialect);
  std::vector<const GraphTable*> tables;
  for (const std::string& name : with) tables.push_back(&table_called(graph, name));
  drafter.place_all(std::move(tables));
  return drafter.draft(view);
}

DraftView draft_view(const TableGraph& graph, const std::string& view, const DraftShape& shape,
                     const SqlDialect& dialect) {
  ViewDrafter drafter(graph, root_called(graph, shape.table), dialect);
  drafter.place_all(shape);
  return drafter.draft(view);
}

}  // namespace lockstep
