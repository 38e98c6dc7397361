#include "tests/support/index_reader.h"

#include <stdexcept>

#include "tests/support/canonical_json.h"

namespace lockstep::support {
namespace {

using Json = nlohmann::json;

}  // namespace

// nlohmann's own values would lose digits, so the reply is cut where the value is: behind `"_source":`
// outside strings.
std::vector<std::string_view> raw_sources(std::string_view reply) {
  static constexpr std::string_view kKey = "\"_source\":";
  std::vector<std::string_view> sources;
  int depth = 0;
  int source_depth = -1;
  std::size_t source_begin = 0;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    const char c = reply[i];
    if (c == '"') {
      const bool is_source = source_depth < 0 && reply.substr(i).starts_with(kKey);
      if (is_source) {
        i += kKey.size() - 1;
        source_depth = depth;
        source_begin = i + 1;
        continue;
      }
      for (++i; i < reply.size() && reply[i] != '"'; ++i) {
        if (reply[i] == '\\') ++i;
      }
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
      if (depth == source_depth) {
        sources.push_back(reply.substr(source_begin, i + 1 - source_begin));
        source_depth = -1;
      }
    }
  }
  return sources;
}

StoredDocument stored_document(const Json& hit, std::string_view source) {
  return {canonical_json(source), hit.at("_version").get<std::int64_t>()};
}

StoredDocuments read_index(ElasticsearchServer& server, const std::string& index) {
  server.expect("POST", "/" + index + "/_refresh");
  StoredDocuments documents;
  std::string path = "/" + index + "/_search?scroll=1m";
  std::string body = R"({"size": 5000, "version": true, "sort": ["_doc"]})";
  std::string scroll_id;
  for (;;) {
    const ElasticsearchServer::Reply reply = server.request("POST", path, body);
    if (reply.status != 200) throw std::runtime_error("reading " + index + ": " + reply.body);
    const Json page = reply.json();
    const Json& hits = page.at("hits").at("hits");
    const auto sources = raw_sources(reply.body);
    if (sources.size() != hits.size())
      throw std::runtime_error("reading " + index + ": hits without _source");
    scroll_id = page.at("_scroll_id");
    if (hits.empty()) break;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      const DocumentAddress address{hits[i].at("_id"), hits[i].value("_routing", "")};
      if (!documents.emplace(address, stored_document(hits[i], sources[i])).second) {
        throw std::runtime_error("the index holds " + address.id + " twice under one routing");
      }
    }
    path = "/_search/scroll";
    body = Json{{"scroll", "1m"}, {"scroll_id", scroll_id}}.dump();
  }
  server.request("DELETE", "/_search/scroll", Json{{"scroll_id", {scroll_id}}}.dump());
  return documents;
}

}  // namespace lockstep::support
