#include "replicator/tree/tree_listing.h"

#include <optional>
#include <set>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/tree/tree_error.h"
#include "replicator/tree/tree_query.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr std::size_t kPage = 1'000;
/// Behind a directory's path this sorts after everything below the directory: no character is greater.
constexpr const char* kLastName = "/\U0010FFFF";

class Listing {
 public:
  Listing(ElasticsearchClient& client, TreeDocuments& documents, const Unreadable& unreadable)
      : client_(client),
        doing_("listing " + documents.index()),
        index_(documents.index()),
        unreadable_(unreadable) {}

  /// Calls `sink` with every document that `query` finds, in the order of `fields`.
  void each(const json& query, const std::vector<std::string>& fields,
            const std::function<void(const TreeDocument&)>& sink) {
    json body = tree_search_body(query, kPage);
    body["sort"] = json::array();
    for (const std::string& field : fields) body["sort"].push_back({{field, "asc"}});
    body["sort"].push_back({{"_seq_no", "asc"}});  // to show both of two documents with one name
    while (true) {
      const json hits = search(body);
      for (const json& hit : hits) {
        if (const std::optional<TreeDocument> document = read(hit)) sink(*document);
      }
      if (hits.size() < kPage) return;
      body["search_after"] = hits.back().at("sort");
    }
  }

  /// The names of the directories in a directory with entries below them.
  std::set<std::string> directories_in(const TreePath& directory) {
    const std::string prefix = directory.is_root() ? "/" : directory.text() + "/";
    std::set<std::string> names;
    json after = nullptr;
    while (true) {
      json composite = {{"size", kPage},
                        {"sources", json::array({{{"path", {{"terms", {{"field", "path"}}}}}}})}};
      if (!after.is_null()) composite["after"] = {{"path", after}};
      json body = tree_search_body(tree_query::beginning_with(prefix), 0);
      body["aggs"] = {{"paths", {{"composite", composite}}}};
      const json buckets =
          object_at(object_at(reply(body), "aggregations"), "paths").value("buckets", json::array());
      std::string last;
      for (const json& bucket : buckets) {
        last = text_at(object_at(bucket, "key"), "path");
        // In the root itself, or next to a directory with a long path.
        if (last.size() <= prefix.size() || !last.starts_with(prefix)) continue;
        const std::string name = last.substr(prefix.size(), last.find('/', prefix.size()) - prefix.size());
        names.insert(name);
        last = prefix + name + kLastName;  // to skip the rest of this directory
      }
      if (buckets.size() < kPage) return names;
      after = last;
    }
  }

 private:
  std::optional<TreeDocument> read(const json& hit) {
    try {
      return read_tree_document(hit);
    } catch (const Error& error) {
      unreadable_(error);
      return std::nullopt;
    }
  }

  json reply(const json& body) {
    json reply = client_.send_json(doing_, "POST", "/" + percent_encoded(index_) + "/_search", dumped(body));
    (void)tree_hits(doing_, reply);
    return reply;
  }
  json search(const json& body) { return tree_hits(doing_, reply(body)); }

  ElasticsearchClient& client_;
  const std::string doing_;
  const std::string index_;
  const Unreadable& unreadable_;
};

TreeEntry entry_of(const TreeDocument& document) {
  return {joined_path(document.path, document.name), document.name, document.is_directory()};
}

void list_children(Listing& listing, const TreePath& directory,
                   const std::function<void(const TreeEntry&)>& sink) {
  // Directories without a document, and some with one.
  std::set<std::string> implicit = listing.directories_in(directory);
  const auto give_implicit_before = [&](const std::string* name) {
    while (!implicit.empty() && (name == nullptr || *implicit.begin() < *name)) {
      sink({joined_path(directory.text(), *implicit.begin()), *implicit.begin(), true});
      implicit.erase(implicit.begin());
    }
  };
  listing.each(tree_query::in(directory), {"name"}, [&](const TreeDocument& document) {
    give_implicit_before(&document.name);
    TreeEntry entry = entry_of(document);
    entry.is_directory |= implicit.erase(document.name) > 0;
    sink(entry);
  });
  give_implicit_before(nullptr);
}

/// Documents without a searchable field would look like documents without the words.
void require_searchable_contents(ElasticsearchClient& client, const std::string& index,
                                 const std::string& doing) {
  const json reply =
      client.send_json(doing, "GET", "/" + percent_encoded(index) + "/_field_caps?fields=contents");
  const json types = object_at(object_at(reply, "fields"), "contents");
  for (const json& type : types) {
    if (type.value("searchable", false)) return;
  }
  if (types.empty()) {
    throw Error(
        {doing, "the mapping of " + index + " has no field \"contents\"",
         "put a file, which adds the field; documents that are there already have to be indexed again"});
  }
  throw Error({doing, "the mapping of " + index + " has a field \"contents\" that cannot be searched",
               "map it as config/fs.json does, in a new index, and copy the documents there with _reindex"});
}

}  // namespace

void list_tree(ElasticsearchClient& client, TreeDocuments& documents, const TreePath& path, TreeDepth depth,
               const std::function<void(const TreeEntry&)>& sink, const Unreadable& unreadable) {
  if (!path.is_root()) {
    const TreeNode node = documents.look_up({&path, 1}).at(0);
    if (!node.exists()) throw TreeError(TreeError::Kind::kNotFound, "listing " + path.text(), path);
    if (!node.is_directory()) {
      for (const TreeDocument& document : node.documents) sink(entry_of(document));
      return;
    }
  }
  Listing listing(client, documents, unreadable);
  if (depth == TreeDepth::kChildren) {
    list_children(listing, path, sink);
  } else {
    listing.each(tree_query::below(path), {"path", "name"}, [&](const TreeDocument& document) {
      if (path.is_root() || document.is_at_or_below(path)) sink(entry_of(document));
    });
  }
}

void search_tree(ElasticsearchClient& client, TreeDocuments& documents, const TreePath& path, TreeDepth depth,
                 const std::string& words, const std::function<void(const TreeEntry&)>& sink,
                 const Unreadable& unreadable) {
  const std::string doing = "searching " + path.text();
  require_searchable_contents(client, documents.index(), doing);
  json place = depth == TreeDepth::kAll ? tree_query::below(path) : tree_query::in(path);
  if (!path.is_root()) {
    const TreeNode node = documents.look_up({&path, 1}).at(0);
    if (!node.exists()) throw TreeError(TreeError::Kind::kNotFound, doing, path);
    if (!node.is_directory()) place = tree_query::at(path);
  }
  const json query = {
      {"bool", {{"filter", json::array({place, {{"match_phrase", {{"contents", words}}}}})}}}};
  Listing(client, documents, unreadable).each(query, {"path", "name"}, [&](const TreeDocument& document) {
    if (path.is_root() || document.is_at_or_below(path)) sink(entry_of(document));
  });
}

}  // namespace lockstep
