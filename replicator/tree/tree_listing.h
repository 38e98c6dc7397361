// Lists and searches a tree: sorted, of any size, in constant memory but for the names of the directories in
// one directory.
#pragma once

#include <functional>
#include <string>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/tree/tree_documents.h"

namespace lockstep {

struct TreeEntry {
  std::string path;  ///< whole: "/clinton/projects"
  std::string name;  ///< "projects"
  bool is_directory = false;
};

enum class TreeDepth {
  kChildren,  ///< the directory's entries, by name
  kAll,       ///< everything below it, directory by directory; only directories that have a document
};

/// Calls `sink` with each entry of the directory, or with the file itself. Throws TreeError if nothing exists
/// at the path, and Error. Sees the documents that were searchable at the last refresh. Calls `unreadable`
/// for each unreadable document below the path, and continues.
void list_tree(ElasticsearchClient& client, TreeDocuments& documents, const TreePath& path, TreeDepth depth,
               const std::function<void(const TreeEntry&)>& sink, const Unreadable& unreadable);

/// Calls `sink` with each file whose contents have these words one behind the other, as the index analyses
/// them: of those in the directory, of those below it, or the file itself. Throws and sees as list_tree()
/// does.
void search_tree(ElasticsearchClient& client, TreeDocuments& documents, const TreePath& path, TreeDepth depth,
                 const std::string& words, const std::function<void(const TreeEntry&)>& sink,
                 const Unreadable& unreadable);

}  // namespace lockstep
