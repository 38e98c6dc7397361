#include "replicator/tree/tree_query.h"

#include <algorithm>
#include <set>
#include <string>

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
  return any_of({term("path", path.text()), beginning_with(path.text() + "/")});
}

bool is_exact(const TreePath& path) {
  return path.text().size() < kMaxPrefixBytes;
}

json beginning_with(std::string_view text) {
  std::size_t end = std::min(text.size(), kMaxPrefixBytes);
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return {{"prefix", {{"path", std::string(text.substr(0, end))}}}};
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

json among(const std::vector<TreePath>& paths) {
  std::set<std::string> directories;
  std::set<std::string> names;
  for (const TreePath& path : paths) {
    directories.insert(path.directory());
    names.insert(path.name());
  }
  return {
      {"bool",
       {{"filter", json::array({{{"terms", {{"path", directories}}}}, {{"terms", {{"name", names}}}}})}}}};
}

}  // namespace lockstep::tree_query
