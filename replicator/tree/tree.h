// A directory tree that lives only in Elasticsearch, changed under locks: it moves, removes and writes files
// and directories as a file system does, even if other processes change the tree or die meanwhile.
//
//   auto locks = open_locks(config);
//   auto tree = open_tree(config, *locks);
//   tree->prepare();
//   if (const auto refusal = tree->move(TreePath("/clinton"), TreePath("/hillary"), {.wait = 30s}))
//     return busy(*refusal);
//
// A change takes its locks, checks that the tree allows it, commits in the journal, and then writes. From the
// commit on it has happened: when this process dies, the next one that meets its locks, or recover(), does
// the rest. Every data write is conditional and fenced (tree_writes.h, F1 and F2). A move never replaces
// anything. Directories need not exist before files are put or moved into them (tree_documents.h).
//
// Not thread-safe: one for each thread, with a LockManager of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/locks/lock_manager.h"
#include "replicator/locks/sweep.h"
#include "replicator/tree/staged_contents.h"
#include "replicator/tree/tree_documents.h"
#include "replicator/tree/tree_error.h"
#include "replicator/tree/tree_intent.h"
#include "replicator/tree/tree_listing.h"
#include "replicator/tree/tree_path.h"
#include "replicator/tree/tree_plan.h"
#include "replicator/tree/tree_roll_forward.h"

namespace lockstep {

/// Larger contents are refused: they travel in one request.
inline constexpr std::size_t kMaxContentsBytes = 32 * 1024 * 1024;

struct TreeOptions {
  std::chrono::milliseconds wait{0};  ///< how long to wait for the locks
  /// Operations whose command this change is a part of: their locks do not keep it out.
  std::vector<std::string> under = {};
  std::stop_token stop = {};  ///< ends the waiting; after the commit it leaves the work to others
  /// Called with the cause while the server keeps a committed change from continuing: at once, and every 10 s
  /// again.
  std::function<void(const Error&)> hindered = [](const Error&) {};
  /// Called with how many documents of how many are done.
  std::function<void(std::int64_t done, std::int64_t total)> progress = [](std::int64_t, std::int64_t) {};
};

class Tree {
 public:
  /// `locks` must outlive this.
  Tree(LockManager& locks, std::unique_ptr<HttpTransport> transport, const TreeConfig& config,
       std::chrono::milliseconds request_timeout);

  /// Creates whatever is missing: the locks' indices and scripts, the tree's index, fields of its mapping.
  /// Call it once before any change; list(), read() and search() do without.
  void prepare();

  /// Prepares for recover(): the locks' indices and scripts, not the index of the tree.
  void prepare_recovery();

  // Each change returns none once it is done. It returns a refusal, and has changed nothing, if others kept
  // the locks for too long or a stop was requested meanwhile. It throws TreeError for a change that a file
  // system would refuse, TreeOperationLost if it was deposed, and Error.

  /// Moves a file, or a directory with everything below it. `to` is the new path itself, and must not exist.
  /// Does nothing if both paths are the same.
  std::optional<Refusal> move(const TreePath& from, const TreePath& to, const TreeOptions& options);

  /// Removes a file, or a directory with everything below it.
  std::optional<Refusal> remove(const TreePath& path, const TreeOptions& options);

  /// Writes the contents of a file, a new one or an existing one, whose other fields stay. Throws UsageError
  /// for contents that are too large or not UTF-8.
  std::optional<Refusal> put(const TreePath& path, const std::string& contents, const TreeOptions& options);

  /// Makes a directory that has a document of its own, and so stays when it is empty. Throws TreeError if
  /// there is a document already.
  std::optional<Refusal> make_directory(const TreePath& path, const TreeOptions& options);

  /// Copies a file with all of its fields. `to` is the new path itself, and must not exist.
  std::optional<Refusal> copy(const TreePath& from, const TreePath& to, const TreeOptions& options);

  // These take no lock: they may see a change half done.

  /// The contents of a file; empty if it has none.
  std::string read(const TreePath& path);

  /// Calls `sink` with each file whose contents have these words, like search_tree().
  void search(const TreePath& path, TreeDepth depth, const std::string& words,
              const std::function<void(const TreeEntry&)>& sink,
              const Unreadable& unreadable = refuse_unreadable);

  /// Lists a directory, or the file itself, in order.
  void list(const TreePath& path, TreeDepth depth, const std::function<void(const TreeEntry&)>& sink,
            const Unreadable& unreadable = refuse_unreadable);

  /// Clears up after dead processes: finishes or aborts operations, releases locks, removes contents that
  /// were never put.
  SweepResult recover();

 private:
  /// `contents` is null unless it is a put.
  std::optional<Refusal> change(const TreeIntent& intent, const std::string* contents,
                                const TreeOptions& options);

  /// Everything up to the commit. False: the locked documents are no longer those that it concerns.
  struct Begun;
  bool begin(Begun& begun, const std::string* contents, std::chrono::milliseconds wait,
             const std::stop_token& stop);
  /// Those of the document that it creates.
  nlohmann::json fields(const Begun& begun, const std::string* contents);
  void write(Begun& begun, const std::string* contents, const TreeOptions& options);
  void prune_sometimes(const Operation& operation);
  void give_up(Begun& begun, const std::string& reason);

  LockManager& locks_;
  const TreeConfig config_;
  ElasticsearchClient client_;
  TreeDocuments documents_;
  TreePlanner planner_;
  StagedContents staged_;

  // From prepare():
  Painless painless_ = Painless::kMissing;
  std::unique_ptr<TreeRollForward> roll_forward_;
};

/// Opens the tree that a configuration names. It connects at its first request.
std::unique_ptr<Tree> open_tree(const Config& config, LockManager& locks);

}  // namespace lockstep
