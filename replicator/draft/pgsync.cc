#include "replicator/draft/pgsync.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

class SchemaTranslator {
 public:
  explicit SchemaTranslator(std::string_view name) : name_(name) {}

  std::vector<PgsyncIndex> translate(const Json& file) {
    if (!file.is_array()) fail("", "a schema file is an array of entries, one for each index");
    std::vector<PgsyncIndex> indices;
    for (std::size_t i = 0; i < file.size(); ++i)
      indices.push_back(index(file[i], "[" + std::to_string(i) + "]"));
    if (indices.empty()) fail("", "it has no entry");
    return indices;
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& what) const {
    throw UsageError(name_ + (place.empty() ? "" : ": " + place) + ": " + what);
  }

  void leave(const std::string& place, const std::string& what, const std::string& instead) {
    untranslated_.push_back({Finding::Severity::kWarning, name_ + ": " + place, what, instead});
  }

  std::string text(const Json& object, const char* key, const std::string& place) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return "";
    if (!found->is_string()) fail(place + "." + key, "it is not a text");
    return found->get<std::string>();
  }

  std::vector<std::string> texts(const Json& object, const char* key, const std::string& place) const {
    std::vector<std::string> all;
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return all;
    if (!found->is_array()) fail(place + "." + key, "it is not an array of names");
    for (const Json& each : *found) {
      if (!each.is_string()) fail(place + "." + key, "it is not an array of names");
      all.push_back(each.get<std::string>());
    }
    return all;
  }

  const Json& object(const Json& above, const char* key, const std::string& place) const {
    static const Json kNone = Json::object();
    const auto found = above.find(key);
    if (found == above.end() || found->is_null()) return kNone;
    if (!found->is_object()) fail(place + "." + key, "it is not an object");
    return *found;
  }

  void leave_others(const Json& object, const std::set<std::string>& known, const std::string& place) {
    for (const auto& [key, value] : object.items()) {
      if (!known.contains(key))
        leave(place + "." + key, "it has no counterpart that init knows", "see docs/coming-from-pgsync.md");
    }
  }

  PgsyncIndex index(const Json& entry, const std::string& place) {
    if (!entry.is_object()) fail(place, "an entry is an object");
    untranslated_.clear();
    PgsyncIndex index;
    index.alias = text(entry, "index", place);
    if (index.alias.empty()) index.alias = text(entry, "database", place);
    if (index.alias.empty()) fail(place, "it has neither an index nor a database");
    const auto nodes = entry.find("nodes");
    const bool is_list = nodes != entry.end() && nodes->is_array();  // as old versions have it
    if (nodes == entry.end() || (is_list && nodes->size() != 1))
      fail(place + ".nodes", "there is not one root");
    index.document = node(is_list ? nodes->front() : *nodes, place + (is_list ? ".nodes[0]" : ".nodes"));
    index.document.routing = text(entry, "routing", place);
    Json settings = object(entry, "setting", place);
    if (const std::string pipeline = text(entry, "pipeline", place); !pipeline.empty())
      settings["index.default_pipeline"] = pipeline;
    if (!settings.empty()) index.settings = settings.dump();
    for (const char* const key : {"mapping", "mappings"}) {
      for (const auto& [field, mapping] : object(entry, key, place).items())
        index.document.mappings[field] = mapping.dump();
    }
    if (entry.contains("plugins"))
      leave(place + ".plugins", "Python code has no counterpart",
            "write its work as SQL in the view, or as an ingest pipeline");
    leave_others(
        entry,
        {"database", "index", "nodes", "routing", "setting", "pipeline", "mapping", "mappings", "plugins"},
        place);
    index.untranslated = std::move(untranslated_);
    return index;
  }

  DraftShape node(const Json& described, const std::string& place) {
    if (!described.is_object()) fail(place, "a node is an object");
    DraftShape shape;
    shape.place = name_ + ": " + place;
    const std::string table = text(described, "table", place);
    if (table.empty()) fail(place, "it has no table");
    const std::string schema = text(described, "schema", place);
    shape.table = schema.empty() ? table : schema + "." + table;
    shape.field = text(described, "label", place);
    if (shape.field.empty()) shape.field = table;
    shape.columns = texts(described, "columns", place);
    columns_of_json(shape, place);
    relationship(described, shape, place);
    transform(described, shape, place);
    if (described.contains("base_tables"))
      leave(place + ".base_tables", "which tables a view of yours reads lockstep finds out by itself",
            "see whether the tracks of the configuration name them");
    if (described.contains("primary_key"))
      leave(place + ".primary_key", "the key of the table is taken", "change _id in the view");
    leave_others(described,
                 {"table", "schema", "label", "columns", "children", "relationship", "transform",
                  "base_tables", "primary_key"},
                 place);
    const auto children = described.find("children");
    if (children == described.end()) return shape;
    if (!children->is_array()) fail(place + ".children", "it is not an array");
    for (std::size_t i = 0; i < children->size(); ++i)
      shape.parts.push_back(node((*children)[i], place + ".children[" + std::to_string(i) + "]"));
    return shape;
  }

  // "facts->minutes" is a part of a column of JSON.
  void columns_of_json(DraftShape& shape, const std::string& place) {
    const auto is_path = [](const std::string& column) { return column.find("->") != std::string::npos; };
    for (const std::string& column : shape.columns) {
      if (is_path(column))
        leave(place + ".columns", "a part of a JSON column, " + column, "add that expression to the view");
    }
    const bool had_columns = !shape.columns.empty();
    std::erase_if(shape.columns, is_path);
    if (had_columns && shape.columns.empty())
      fail(place + ".columns", "it names parts of JSON columns alone");
  }

  void relationship(const Json& described, DraftShape& shape, const std::string& place) {
    const Json& relation = object(described, "relationship", place);
    const std::string at = place + ".relationship";
    const std::string type = text(relation, "type", at);
    if (type == "one_to_one")
      shape.rows = DraftShape::Rows::kOne;
    else if (!type.empty() && type != "one_to_many")
      fail(at + ".type", "it is \"" + type + "\"; one_to_one and one_to_many are known");
    const std::string variant = text(relation, "variant", at);
    if (variant == "scalar")
      shape.row = DraftShape::Row::kValue;
    else if (!variant.empty() && variant != "object")
      fail(at + ".variant", "it is \"" + variant + "\"; object and scalar are known");
    if (shape.row == DraftShape::Row::kValue && shape.columns.size() != 1) {
      leave(at + ".variant", "scalar of several columns",
            "objects of these columns are drafted; change the view");
      shape.row = DraftShape::Row::kObject;
    }
    if (shape.row == DraftShape::Row::kValue && shape.rows == DraftShape::Rows::kOne) {
      leave(at + ".variant", "one scalar", "an object is drafted; write the value as a column of the view");
      shape.row = DraftShape::Row::kObject;
    }
    const std::vector<std::string> through = texts(relation, "through_tables", at);
    if (through.size() > 1)
      fail(at + ".through_tables", "init follows one table only; write the view by hand");
    if (!through.empty()) shape.through = through.front();
    const Json& key = object(relation, "foreign_key", at);
    shape.own_columns = texts(key, "child", at + ".foreign_key");
    shape.columns_above = texts(key, "parent", at + ".foreign_key");
    if (shape.own_columns.size() != shape.columns_above.size())
      fail(at + ".foreign_key", "child and parent do not name the same number of columns");
    leave_others(relation, {"type", "variant", "through_tables", "foreign_key"}, at);
  }

  void transform(const Json& described, DraftShape& shape, const std::string& place) {
    const Json& rules = object(described, "transform", place);
    const std::string at = place + ".transform";
    for (const auto& [column, name] : object(rules, "rename", at).items()) {
      if (!name.is_string()) fail(at + ".rename." + column, "it is not a text");
      shape.renamed[column] = name.get<std::string>();
    }
    for (const auto& [field, mapping] : object(rules, "mapping", at).items())
      shape.mappings[field] = mapping.dump();
    const std::string in_view = "write it as SQL in the view";
    if (rules.contains("concat"))
      leave(at + ".concat", "fields that are joined to another one",
            "add concat_ws('delimiter', column, …) as destination to the view, and the field to the mapping");
    if (rules.contains("replace"))
      leave(at + ".replace", "texts that are replaced", "write replace(column, old, new)");
    if (rules.contains("move"))
      leave(at + ".move", "a field that is moved elsewhere in the document", in_view);
    leave_others(rules, {"rename", "mapping", "concat", "replace", "move"}, at);
  }

  const std::string name_;
  std::vector<Finding> untranslated_;
};

}  // namespace

std::vector<PgsyncIndex> read_pgsync_schema(std::string_view name, std::string_view text) {
  Json file;
  try {
    file = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string message = error.what();  // "[json.exception.parse_error.101] parse error at line 3, …"
    throw UsageError(std::string(name) + ": " + message.substr(message.find("] ") + 2));
  }
  return SchemaTranslator(name).translate(file);
}

}  // namespace lockstep
