#include "replicator/tree/tree_documents.h"

#include <algorithm>
#include <utility>

#include "replicator/elasticsearch/read/get_document.h"
#include "replicator/elasticsearch/read/scroll.h"
#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/stored_object.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/tree/tree_error.h"
#include "replicator/tree/tree_query.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

using nlohmann::json;

/// Above it there is room for tokens, so that no fence that a program makes up uses them up.
constexpr FencingToken kMaxFence = kMaxToken / 2;

/// Enough to see that a path has several documents, which only writers without locks cause.
constexpr std::size_t kDocumentsAtAPath = 100;
constexpr std::size_t kFilesOfAPage = 1'000;

std::int64_t total_of(const json& reply) {
  return integer_at(object_at(object_at(reply, "hits"), "total"), "value").value_or(0);
}

std::string place_of(const json& hit) {
  return "the document " + text_at(hit, "_id") + " of " + text_at(hit, "_index");
}

std::vector<TreeDocument> read_documents(const json& hits) {
  std::vector<TreeDocument> documents;
  documents.reserve(hits.size());
  for (const json& hit : hits) documents.push_back(read_tree_document(hit));
  return documents;
}

}  // namespace

bool TreeDocument::is_at(const TreePath& where) const {
  return path == where.directory() && name == where.name();
}

bool TreeDocument::is_at_or_below(const TreePath& where) const {
  if (path == where.text()) return true;
  if (path.size() > where.text().size() && path.starts_with(where.text()) && path[where.text().size()] == '/')
    return true;
  return is_at(where);
}

bool TreeNode::is_directory() const {
  return below > 0 || std::any_of(documents.begin(), documents.end(),
                                  [](const TreeDocument& document) { return document.is_directory(); });
}

TreeDocuments::TreeDocuments(ElasticsearchClient& client, std::string index)
    : client_(client), index_(std::move(index)) {}

void TreeDocuments::refresh() {
  client_.refresh(index_);
}

std::vector<TreeNode> TreeDocuments::look_up(std::span<const TreePath> paths) {
  const std::string doing = "looking for paths in " + index_;
  std::string body;
  for (const TreePath& path : paths) {
    json below = tree_search_body(tree_query::below(path), 0);
    below["track_total_hits"] = true;
    body += "{}\n" + dumped(tree_search_body(tree_query::at(path), kDocumentsAtAPath)) + "\n{}\n" +
            dumped(below) + "\n";
  }
  const json reply = client_.send_json(doing, "POST", "/" + percent_encoded(index_) + "/_msearch", body);
  const json responses = reply.value("responses", json::array());
  if (responses.size() != 2 * paths.size()) {
    throw Error({doing, "the reply is not complete", "is there a proxy in between?", Retry::kLater,
                 Server::kElasticsearch});
  }
  std::vector<TreeNode> nodes;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    TreeNode node;
    node.documents = read_documents(tree_hits(doing, responses[2 * i]));
    (void)tree_hits(doing, responses[2 * i + 1]);
    node.below = tree_query::is_exact(paths[i]) ? total_of(responses[2 * i + 1]) : count_below(paths[i]);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::int64_t TreeDocuments::count_below(const TreePath& path) {
  std::int64_t count = 0;
  scan(tree_query::below(path), kFilesOfAPage, [&](std::span<const TreeDocument> page) {
    count += std::count_if(page.begin(), page.end(), [&](const TreeDocument& document) {
      return document.is_at_or_below(path) && !document.is_at(path);
    });
  });
  return count;
}

std::optional<TreePath> TreeDocuments::first_file(const std::vector<TreePath>& paths) {
  std::optional<TreePath> first;
  if (paths.empty()) return first;
  // Whether it is a file is read from each document: others map `kind` as they like.
  scan(tree_query::among(paths), kFilesOfAPage, [&](std::span<const TreeDocument> page) {
    for (const TreeDocument& document : page) {
      if (document.is_directory()) continue;
      const auto at = std::find_if(paths.begin(), paths.end(),
                                   [&](const TreePath& path) { return document.is_at(path); });
      if (at != paths.end() && (!first || *at < *first)) first = *at;
    }
  });
  return first;
}

json TreeDocuments::source_at(const std::string& doing, const TreePath& path) {
  json body = tree_search_body(tree_query::at(path), 1);
  body["_source"] = true;
  const json hits = tree_hits(
      doing, client_.send_json(doing, "POST", "/" + percent_encoded(index_) + "/_search", dumped(body)));
  if (hits.empty()) throw TreeError(TreeError::Kind::kNotFound, doing, path);
  (void)read_tree_document(hits[0]);  // throws for one that cannot be read
  return stored_source(place_of(hits[0]), hits[0]);
}

std::int64_t TreeDocuments::count(const json& query) {
  const std::string doing = "counting documents of " + index_;
  json body = tree_search_body(query, 0);
  body["track_total_hits"] = true;
  const json reply =
      client_.send_json(doing, "POST", "/" + percent_encoded(index_) + "/_search", dumped(body));
  (void)tree_hits(doing, reply);
  return total_of(reply);
}

std::vector<TreeDocument> TreeDocuments::find(const json& query, std::size_t limit) {
  const std::string doing = "searching " + index_;
  const json reply = client_.send_json(doing, "POST", "/" + percent_encoded(index_) + "/_search",
                                       dumped(tree_search_body(query, limit)));
  return read_documents(tree_hits(doing, reply));
}

void TreeDocuments::scan(const json& query, std::size_t page,
                         const std::function<void(std::span<const TreeDocument>)>& sink) {
  const std::string doing = "scanning " + index_;
  json body = tree_search_body(query, page);
  body["sort"] = json::array({"_doc"});
  body.erase("track_total_hits");  // a scroll always counts, and refuses this field
  Scroll scroll(client_);
  json reply = client_.send_json(doing, "POST",
                                 "/" + percent_encoded(index_) + "/_search?scroll=" + scroll.lifetime() +
                                     "&allow_partial_search_results=false",
                                 dumped(body));
  while (true) {
    if (const std::string id = text_at(reply, "_scroll_id"); !id.empty()) scroll.has_id(id);
    const std::vector<TreeDocument> documents = read_documents(tree_hits(doing, reply));
    if (!documents.empty()) sink(documents);
    if (documents.size() < page) return;
    reply = client_.send_json(doing, "POST", "/_search/scroll", scroll.next_body());
  }
}

std::optional<TreeDocuments::Whole> TreeDocuments::get(const std::string& id) {
  const std::string doing = "reading the document " + id + " of " + index_;
  const std::optional<json> reply = get_document(client_, doing, index_, id);
  if (!reply) return std::nullopt;
  TreeDocument document = read_tree_document(*reply);
  const StoredObject source(place_of(*reply), reply->at("_source"));
  return Whole{std::move(document), source.text_if_any("contents")};
}

TreeDocument read_tree_document(const json& hit) {
  const std::string where = place_of(hit);
  const StoredObject source(where, stored_source(where, hit));
  TreeDocument document = read_tree_version(hit);
  document.path = source.text_if_any("path").value_or("");
  document.name = source.text_if_any("name").value_or("");
  if (!document.path.empty() && document.name.empty()) throw missing_value(where, "name");
  document.kind = source.text_if_any("kind").value_or("");
  document.fence = source.integer_if_any("fence").value_or(0);
  if (document.fence > kMaxFence)
    throw unfit_value(where, "fence", std::to_string(document.fence), "a fencing token");
  return document;
}

TreeDocument read_tree_version(const json& reply) {
  return {.id = text_at(reply, "_id"),
          .routing = text_at(reply, "_routing"),
          .sequence_number = integer_at(reply, "_seq_no").value_or(-1),
          .primary_term = integer_at(reply, "_primary_term").value_or(0)};
}

json tree_search_body(const json& query, std::size_t size) {
  return {{"query", query},
          {"size", size},
          {"track_total_hits", false},
          {"seq_no_primary_term", true},
          {"_source", {"path", "name", "kind", "fence"}}};
}

json tree_hits(const std::string& doing, const json& reply) {
  if (reply.contains("error")) {
    const std::int64_t status = integer_at(reply, "status").value_or(0);
    throw Error({doing, dumped(reply.at("error")), "", may_work_later(status) ? Retry::kLater : Retry::kNever,
                 Server::kElasticsearch});
  }
  const bool timed_out = reply.value("timed_out", false);
  if (timed_out || !is_of_all_shards(reply)) {
    throw Error({doing, "not all shards answered", "wait until the index is green or yellow", Retry::kLater,
                 Server::kElasticsearch});
  }
  return object_at(reply, "hits").value("hits", json::array());
}

}  // namespace lockstep
