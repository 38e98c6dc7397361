#include "replicator/tree/tree_query.h"

namespace lockstep::tree_query {

using nlohmann::json;

namespace {

json term(const char* field, const std::string& value) {
  return {{"term", {{field, value}}}};
}

}  // namespace

json at(const TreePath& path) {
  return {{"bool", {{"filter", {term("path", path.directory()), term("name", path.name())}}}}};
}

json below(const TreePath& path) {
  if (path.is_root()) return {{"exists", {{"field", "path"}}}};
  return any_of({term("path", path.text()),
                 {{"prefix", {{"path", path.text() + "/"}}}},
                 term("path.tree", path.text())});
}

json at_or_below(const TreePath& path) {
  return any_of({at(path), below(path)});
}

json in(const TreePath& directory) {
  return term("path", directory.text());
}

json any_of(std::vector<json> queries) {
  return {{"bool", {{"should", std::move(queries)}, {"minimum_should_match", 1}}}};
}

json up_to_fence(const json& query, std::int64_t fence) {
  return {{"bool",
           {{"filter", json::array({query})},
            {"must_not", json::array({{{"range", {{"fence", {{"gt", fence}}}}}}})}}}};
}

}  // namespace lockstep::tree_query
