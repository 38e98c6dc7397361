#include "replicator/tree/tree_index.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "replicator/elasticsearch/admin/index_blocks.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/tree/tree_documents.h"
#include "replicator/tree/tree_path.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* kNoPipeline = "_none";

/// Elasticsearch takes terms of up to 32,766 bytes, which are 8,191 characters of four bytes.
constexpr int kMaxTerm = 8'191;

json index_body() {
  return {
      {"settings",
       {{"number_of_shards", 1},
        {"auto_expand_replicas", "0-1"},
        {"analysis",
         {{"filter", {{"indexable", {{"type", "length"}, {"max", kMaxTerm}}}}},
          {"analyzer",
           {{"paths", {{"type", "custom"}, {"tokenizer", "path_hierarchy"}, {"filter", {"indexable"}}}}}}}}}},
      {"mappings",
       {{"properties",
         {{"name", {{"type", "keyword"}, {"fields", {{"text", {{"type", "text"}}}}}}},
          {"path",
           {{"type", "keyword"},
            {"ignore_above", kMaxTerm},
            {"fields",
             {{"tree", {{"type", "text"}, {"analyzer", "paths"}, {"search_analyzer", "keyword"}}}}}}},
          {"kind", {{"type", "keyword"}}},
          {"contents", {{"type", "text"}}},
          {"fence", {{"type", "long"}}}}}}}};
}

json missing_fields(const json& properties) {
  const json wanted = {
      {"kind", {{"type", "keyword"}}}, {"contents", {{"type", "text"}}}, {"fence", {{"type", "long"}}}};
  json missing = json::object();
  for (const auto& field : wanted.items()) {
    if (!properties.contains(field.key())) missing[field.key()] = field.value();
  }
  return missing;
}

/// The number of characters of a keyword that are found.
std::int64_t kept_of(const json& field, const json& settings) {
  if (const std::optional<std::int64_t> own = integer_at(field, "ignore_above")) return *own;
  const std::string everywhere = text_at(settings, "index.mapping.ignore_above");
  return everywhere.empty() ? std::numeric_limits<std::int64_t>::max() : std::stoll(everywhere);
}

/// The obstacle to finding values of a field by all of their text; empty: none.
std::string fault_of_keyword(const json& field, std::size_t longest, const json& settings) {
  if (text_at(field, "type") != "keyword") return "is not mapped as a keyword";
  if (!field.value("index", true)) return "is not indexed, so that it cannot be searched";
  const std::int64_t kept = kept_of(field, settings);
  if (kept >= static_cast<std::int64_t>(longest)) return "";
  return "has ignore_above " + std::to_string(kept) + ", so that values of up to " + std::to_string(longest) +
         " bytes are not found";
}

/// The fault of a path field's mapping; empty: none. Two paths must never be one term, and none may be
/// missing.
std::string fault_of_place(const json& field, std::size_t longest, const json& settings) {
  if (field.contains("normalizer")) return "has a normalizer, which makes different paths one";
  if (field.contains("null_value")) return "has a null_value, which is found where there is no path";
  if (!field.value("doc_values", true)) return "has no doc_values, so that no directory can be listed";
  return fault_of_keyword(field, longest, settings);
}

/// The same for `kind`, by whose beginning recover() finds documents staged by dead processes. A mapping made
/// by its first document has a keyword below it. Directories are recognized from each document, so a
/// normalizer does no harm.
std::string fault_of_kind(const json& field, const json& settings) {
  const json below = object_at(object_at(field, "fields"), "keyword");
  const bool dynamic = text_at(field, "type") == "text" && !below.empty();
  return fault_of_keyword(dynamic ? below : field, kMaxStagedKindBytes, settings);
}

/// The fault of the mapping as a whole; empty: none.
std::string fault_of(const json& mappings) {
  const json source = object_at(mappings, "_source");
  if (!source.value("enabled", true) || source.contains("includes") || source.contains("excludes"))
    return "its mapping does not keep all of \"_source\", so that a change would lose fields";
  if (object_at(mappings, "_routing").value("required", false))
    return "its mapping requires a routing (\"_routing\"), which paths do not have";
  for (const char* field : {"name", "path", "kind", "fence"}) {
    if (object_at(mappings, "runtime").contains(field))
      return "its mapping computes the field \"" + std::string(field) + "\" (\"runtime\")";
  }
  return "";
}

/// The fault of the settings for changes of documents; empty: none. The default pipeline can be bypassed.
std::string fault_of_settings(const json& settings) {
  const std::string pipeline = text_at(settings, "index.final_pipeline");
  if (pipeline.empty() || pipeline == kNoPipeline) return "";
  return "its final_pipeline \"" + pipeline + "\" may change the documents";
}

constexpr const char* kNameAnother = "name another index in [tree] index";

std::string doing_of_use(const std::string& index) {
  return "using " + index + " as a directory tree";
}

/// For readers of the tree, and for changes of it. `found`: the result of client.indices_of(index).
void require_tree_mapping(const std::string& index, const std::vector<IndexState>& found) {
  const std::string doing = doing_of_use(index);
  const std::string as_shipped = std::string("map it as config/fs.json does, or ") + kNameAnother;
  if (found.size() != 1)
    throw Error({doing, "the alias points to several indices", "name one of them in [tree] index"});
  const IndexState& state = found[0];
  if (state.name != index && std::ranges::count(state.narrow_aliases, index) > 0)
    throw Error({doing, "the alias has a filter or a routing", "name the index in [tree] index"});
  if (const std::string fault = fault_of(state.mappings); !fault.empty())
    throw Error({doing, fault, as_shipped});
  const json properties = object_at(state.mappings, "properties");
  const auto require = [&](const char* field, const std::string& fault) {
    if (!fault.empty()) throw Error({doing, "its field \"" + std::string(field) + "\" " + fault, as_shipped});
  };
  require("name", fault_of_place(object_at(properties, "name"), kMaxTreeNameBytes, state.settings));
  require("path", fault_of_place(object_at(properties, "path"), kMaxTreePathBytes, state.settings));
  if (properties.contains("kind"))
    require("kind", fault_of_kind(object_at(properties, "kind"), state.settings));
  const json contents = object_at(properties, "contents");
  if (contents.contains("properties") || text_at(contents, "type") == "nested")
    require("contents", "is mapped as an object, and takes no text");
  // Only read from documents. A script's first "fence": "17" makes a text of it.
  const std::string fence = text_at(object_at(properties, "fence"), "type");
  if (!fence.empty() && fence != "long" && fence != "text" && fence != "keyword") {
    throw Error({doing, "its field \"fence\" is mapped as " + fence + ", which does not take every token",
                 std::string("map it as long, or ") + kNameAnother});
  }
}

/// The needs of writers alone.
void require_changeable(const std::string& index, const IndexState& state) {
  const std::string doing = doing_of_use(index);
  const json meta = object_at(state.mappings, "_meta");
  if (object_at(meta, "lockstep").contains("locks"))
    throw Error({doing, "it is an index of locks", kNameAnother});
  if (meta.contains("lockstep")) {
    throw Error({doing, "a pipeline fills it from a database, and would undo the change",
                 std::string("change the tree in the database, or ") + kNameAnother});
  }
  require_writable(doing, state, Retry::kNever);
  if (const std::string fault = fault_of_settings(state.settings); !fault.empty())
    throw Error({doing, fault, std::string("set it to null, or ") + kNameAnother});
}

}  // namespace

bool tree_index_exists(ElasticsearchClient& client, const std::string& index) {
  return !client.indices_of(index).empty();
}

bool tree_can_be_read(ElasticsearchClient& client, const std::string& index) {
  const std::vector<IndexState> found = client.indices_of(index);
  if (found.empty()) return false;
  require_tree_mapping(index, found);
  return true;
}

void require_writable_tree(ElasticsearchClient& client, const std::string& index) {
  for (const IndexState& state : client.indices_of(index))
    require_writable(doing_of_use(index), state, Retry::kNever);
}

void prepare_tree_index(ElasticsearchClient& client, const std::string& index) {
  std::vector<IndexState> found = client.indices_of(index);
  if (found.empty()) {
    make_unless_there(client, "creating index " + index, "PUT", "/" + percent_encoded(index), index_body());
    found = client.indices_of(index);
  }
  if (found.size() == 1) require_changeable(index, found[0]);
  require_tree_mapping(index, found);
  const json missing = missing_fields(object_at(found[0].mappings, "properties"));
  if (!missing.empty()) client.put_mapping(index, {{"properties", missing}});
}

}  // namespace lockstep
