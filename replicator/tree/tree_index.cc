#include "replicator/tree/tree_index.h"

#include <limits>
#include <utility>

#include "replicator/elasticsearch/admin/index_blocks.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/tree/tree_path.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int kBadRequest = 400;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;

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

/// What is wrong with how a field of paths is mapped; empty: nothing. Two paths must never be one term, and
/// none may be missing.
std::string fault_of(const json& field, std::size_t longest, const json& settings) {
  if (text_at(field, "type") != "keyword") return "is not mapped as a keyword";
  if (field.contains("normalizer")) return "has a normalizer, which makes different paths one";
  if (field.contains("null_value")) return "has a null_value, which is found where there is no path";
  if (!field.value("index", true)) return "is not indexed, so that no path can be found";
  if (!field.value("doc_values", true)) return "has no doc_values, so that no directory can be listed";
  std::int64_t kept = integer_at(field, "ignore_above").value_or(std::numeric_limits<std::int64_t>::max());
  if (!field.contains("ignore_above")) {
    const std::string everywhere = text_at(settings, "index.mapping.ignore_above");
    if (!everywhere.empty()) kept = std::stoll(everywhere);
  }
  if (kept >= static_cast<std::int64_t>(longest)) return "";
  return "has ignore_above " + std::to_string(kept) + ", so that paths of up to " + std::to_string(longest) +
         " bytes are not found";
}

/// What is wrong with the mapping as a whole; empty: nothing.
std::string fault_of(const json& mappings) {
  if (object_at(mappings, "_routing").value("required", false))
    return "its mapping requires a routing (\"_routing\"), which paths do not have";
  const json source = object_at(mappings, "_source");
  if (!source.value("enabled", true) || source.contains("includes") || source.contains("excludes"))
    return "its mapping does not keep all of \"_source\", so that a change would lose fields";
  for (const char* field : {"name", "path", "kind", "fence"}) {
    if (object_at(mappings, "runtime").contains(field))
      return "its mapping computes the field \"" + std::string(field) + "\" (\"runtime\")";
  }
  return "";
}

std::string doing_with(const std::string& index) {
  return "using " + index + " as a directory tree";
}

/// What a tree needs to be read and to be changed.
void require_fit(const std::string& index, const std::vector<IndexState>& found) {
  const std::string doing = doing_with(index);
  const std::string as_shipped = "map it as config/fs.json does, or name another index in [tree] index";
  if (found.size() != 1)
    throw Error({doing, "the alias stands for several indices", "name one of them in [tree] index"});
  const IndexState& state = found[0];
  if (!state.narrow_aliases.empty() && state.name != index) {
    for (const std::string& narrow : state.narrow_aliases) {
      if (narrow == index)
        throw Error({doing, "the alias has a filter or a routing", "name the index in [tree] index"});
    }
  }
  if (const std::string fault = fault_of(state.mappings); !fault.empty())
    throw Error({doing, fault, as_shipped});
  const json properties = object_at(state.mappings, "properties");
  const std::pair<const char*, std::size_t> kPlaces[] = {{"name", kMaxTreeNameBytes},
                                                         {"path", kMaxTreePathBytes}};
  for (const auto& [field, longest] : kPlaces) {
    const std::string fault = fault_of(object_at(properties, field), longest, state.settings);
    if (!fault.empty()) throw Error({doing, "its field \"" + std::string(field) + "\" " + fault, as_shipped});
  }
  const json contents = object_at(properties, "contents");
  if (contents.contains("properties") || text_at(contents, "type") == "nested")
    throw Error({doing, "its field \"contents\" is mapped as an object, and takes no text", as_shipped});
  // Only read from documents. A text is what a script's first "fence": "17" makes of it.
  const std::string fence = text_at(object_at(properties, "fence"), "type");
  if (!fence.empty() && fence != "long" && fence != "text" && fence != "keyword") {
    throw Error({doing, "its field \"fence\" is mapped as " + fence + ", which does not take every token",
                 "map it as long, or name another index in [tree] index"});
  }
}

/// Every write to an index whose pipeline is missing is refused.
void require_pipelines(ElasticsearchClient& client, const std::string& index, const IndexState& state) {
  for (const std::string setting : {"index.default_pipeline", "index.final_pipeline"}) {
    const std::string pipeline = text_at(state.settings, setting.c_str());
    if (pipeline.empty() || pipeline == "_none") continue;
    // Who may not ask learns it with the first write.
    const HttpResponse response =
        client.send("looking for the ingest pipeline " + pipeline, "GET",
                    "/_ingest/pipeline/" + percent_encoded(pipeline), {}, {kForbidden, kNotFound});
    if (response.status != kNotFound) continue;
    throw Error({doing_with(index), "its " + setting + " is " + pipeline + ", which does not exist",
                 "make that ingest pipeline, or set " + setting + " to null"});
  }
}

void require_changeable(ElasticsearchClient& client, const std::string& index, const IndexState& state) {
  if (object_at(state.mappings, "_meta").contains("lockstep")) {
    throw Error({doing_with(index), "a pipeline fills it from a database, and would undo the change",
                 "change the tree in the database, or name another index in [tree] index"});
  }
  require_writable(doing_with(index), state, Retry::kNever);
  require_pipelines(client, index, state);
}

}  // namespace

bool tree_index_exists(ElasticsearchClient& client, const std::string& index) {
  return !client.indices_of(index).empty();
}

bool tree_can_be_read(ElasticsearchClient& client, const std::string& index) {
  const std::vector<IndexState> found = client.indices_of(index);
  if (found.empty()) return false;
  require_fit(index, found);
  return true;
}

void require_writable_tree(ElasticsearchClient& client, const std::string& index) {
  for (const IndexState& state : client.indices_of(index))
    require_writable(doing_with(index), state, Retry::kNever);
}

void prepare_tree_index(ElasticsearchClient& client, const std::string& index) {
  std::vector<IndexState> found = client.indices_of(index);
  if (found.empty()) {
    const std::string doing = "creating index " + index;
    const HttpResponse response =
        client.send(doing, "PUT", "/" + percent_encoded(index), index_body().dump(), {kBadRequest});
    // Somebody else may have created it meanwhile.
    if (response.status == kBadRequest &&
        read_error_reply(response.body).type != "resource_already_exists_exception") {
      throw reply_error(doing, response);
    }
    found = client.indices_of(index);
  }
  require_fit(index, found);
  require_changeable(client, index, found[0]);
  const json missing = missing_fields(object_at(found[0].mappings, "properties"));
  if (!missing.empty()) client.put_mapping(index, {{"properties", missing}});
}

}  // namespace lockstep
