#include "replicator/tree/tree_index.h"

#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int kBadRequest = 400;

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

void require_usable(const std::string& index, const std::vector<IndexState>& found) {
  const std::string doing = "using " + index + " as a directory tree";
  if (found.size() != 1)
    throw Error({doing, "the alias stands for several indices", "name one of them in [tree] index"});
  if (object_at(found[0].mappings, "_meta").contains("lockstep")) {
    throw Error({doing, "a pipeline fills it from a database, and would undo the change",
                 "change the tree in the database, or name another index in [tree] index"});
  }
  const json properties = object_at(found[0].mappings, "properties");
  for (const char* field : {"name", "path"}) {
    if (text_at(object_at(properties, field), "type") == "keyword") continue;
    throw Error({doing, "its field \"" + std::string(field) + "\" is not mapped as a keyword",
                 "map it as config/fs.json does, or name another index in [tree] index"});
  }
  const std::string fence = text_at(object_at(properties, "fence"), "type");
  if (!fence.empty() && fence != "long") {
    throw Error(
        {doing, "its field \"fence\" is not mapped as a long number", "name another index in [tree] index"});
  }
}

}  // namespace

bool tree_index_exists(ElasticsearchClient& client, const std::string& index) {
  return !client.indices_of(index).empty();
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
  require_usable(index, found);
  const json missing = missing_fields(object_at(found[0].mappings, "properties"));
  if (!missing.empty()) client.put_mapping(index, {{"properties", missing}});
}

}  // namespace lockstep
