#include "tests/proof/lock_harness/tree_world.h"

#include <nlohmann/json.hpp>

#include "replicator/tree/tree_path.h"

namespace lockstep::harness {
namespace {

using nlohmann::json;

constexpr const char* kFoldingIndex = R"({
  "settings": {
    "number_of_shards": 1, "auto_expand_replicas": "0-2",
    "analysis": {"analyzer": {"folding_paths": {"tokenizer": "path_hierarchy", "filter": ["lowercase"]}}}},
  "mappings": {"properties": {
    "name": {"type": "keyword"},
    "path": {"type": "keyword", "fields": {"tree": {"type": "text", "analyzer": "folding_paths"}}}}}})";

}  // namespace

std::vector<std::string> tops() {
  return {"/a", "/A", "/b", "/B", "/c", "/C", "/d", "/D"};
}

Files first_files() {
  Files files;
  const auto add = [&](const std::string& path) {
    const std::string id = std::to_string(files.size() + 1);
    files[path] = {id, "of " + id};
  };
  for (const std::string& top : tops()) {
    for (const std::string directory : {"/s0", "/s1"}) {
      for (const std::string name : {"/f0", "/f1", "/f2", "/f3"}) add(top + directory + name);
    }
  }
  for (int i = 0; i < kFilesOfTheGreatDirectory; ++i) add("/a/great/x" + std::to_string(i));
  return files;
}

void create_folding_index(support::ElasticsearchServer& server, const std::string& index) {
  server.expect("PUT", "/" + index, kFoldingIndex);
}

void write_files(support::ElasticsearchServer& server, const std::string& index, const Files& files) {
  std::string body;
  for (const auto& [text, file] : files) {
    const TreePath path(text);
    body += json{{"index", {{"_id", file.id}}}}.dump() + "\n";
    body +=
        json{{"path", path.directory()}, {"name", path.name()}, {"contents", file.contents}}.dump() + "\n";
  }
  server.expect("POST", "/" + index + "/_bulk?refresh=true", body);
}

}  // namespace lockstep::harness
