#include "replicator/tree/tree.h"

#include <algorithm>
#include <utility>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/elasticsearch/transport/stored_object.h"
#include "replicator/locks/acquire.h"
#include "replicator/locks/patience.h"
#include "replicator/tree/tree_index.h"
#include "replicator/tree/tree_lease.h"
#include "replicator/tree/tree_writes.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;

/// How many times, at least, a change tries again when the documents that it concerns have changed before it
/// had locked them. After that it tries again only while it has time to wait.
constexpr int kTries = 10;

/// One change in so many removes old entries from the journal, whether or not lockstep-locks.service runs.
constexpr FencingToken kChangesOfAPruning = 64;

Error unfinished(const Error& error) {
  Error::Parts parts = error.parts();
  parts.remedy +=
      (parts.remedy.empty() ? "" : "; then ") + std::string("`lockstep tree recover` does the rest");
  return Error(parts);
}

}  // namespace

/// A change up to its commit.
struct Tree::Begun {
  TreeIntent intent;
  Operation operation;
  std::optional<Refusal> refusal = {};  ///< of its locks; the operation is over then
  TreePlan plan = {};
  std::optional<TreeDocument> staged = {};
  SteadyTime since = {};  ///< before the commit, which started the lease
};

Tree::Tree(LockManager& locks, std::unique_ptr<HttpTransport> transport, const TreeConfig& config,
           milliseconds request_timeout)
    : locks_(locks),
      config_(config),
      client_(std::move(transport), request_timeout),
      documents_(client_, config.index),
      planner_(documents_, config.locking),
      staged_(client_, documents_) {}

void Tree::prepare() {
  prepare_tree_index(client_, config_.index);
  prepare_recovery();
}

void Tree::prepare_recovery() {
  locks_.prepare();
  painless_ = install_lock_scripts(client_);
  roll_forward_ = std::make_unique<TreeRollForward>(client_, documents_, painless_);
}

std::optional<Refusal> Tree::move(const TreePath& from, const TreePath& to, const TreeOptions& options) {
  if (from.is_root()) throw UsageError("the root cannot be moved; name something in it");
  if (to.is_root()) throw UsageError("the root cannot be the target; name a path in it");
  const TreeIntent intent{.kind = TreeIntent::Kind::kMove, .path = from, .to = to};
  if (from.contains(to)) throw TreeError(TreeError::Kind::kIntoItself, doing_of(intent), to);
  if (from == to) {
    documents_.refresh();
    if (!documents_.look_up({&from, 1}).at(0).exists())
      throw TreeError(TreeError::Kind::kNotFound, doing_of(intent), from);
    return std::nullopt;
  }
  return change(intent, nullptr, options);
}

std::optional<Refusal> Tree::remove(const TreePath& path, const TreeOptions& options) {
  if (path.is_root()) throw UsageError("the root cannot be removed; name something in it");
  return change({.kind = TreeIntent::Kind::kRemove, .path = path}, nullptr, options);
}

std::optional<Refusal> Tree::put(const TreePath& path, const std::string& contents,
                                 const TreeOptions& options) {
  if (path.is_root()) throw UsageError("the root is a directory; name a file");
  if (contents.size() > kMaxContentsBytes) {
    throw UsageError("the contents of " + path.text() + " are larger than " +
                     std::to_string(kMaxContentsBytes >> 20) + " MiB; put them elsewhere");
  }
  if (!is_utf8(contents)) {
    throw UsageError("the contents of " + path.text() +
                     " are not UTF-8, and Elasticsearch takes nothing else; convert them");
  }
  return change({.kind = TreeIntent::Kind::kPut, .path = path}, &contents, options);
}

std::optional<Refusal> Tree::make_directory(const TreePath& path, const TreeOptions& options) {
  const TreeIntent intent{.kind = TreeIntent::Kind::kMakeDirectory, .path = path};
  if (path.is_root()) throw TreeError(TreeError::Kind::kExists, doing_of(intent), path);
  return change(intent, nullptr, options);
}

std::optional<Refusal> Tree::copy(const TreePath& from, const TreePath& to, const TreeOptions& options) {
  const TreeIntent intent{.kind = TreeIntent::Kind::kCopy, .path = from, .to = to};
  if (from.is_root()) throw TreeError(TreeError::Kind::kIsDirectory, doing_of(intent), from);
  if (to.is_root() || from == to) throw TreeError(TreeError::Kind::kExists, doing_of(intent), to);
  return change(intent, nullptr, options);
}

std::string Tree::read(const TreePath& path) {
  const std::string doing = "reading " + path.text();
  if (path.is_root()) throw TreeError(TreeError::Kind::kIsDirectory, doing, path);
  if (!tree_can_be_read(client_, config_.index)) throw TreeError(TreeError::Kind::kNotFound, doing, path);
  documents_.refresh();
  const TreeNode node = documents_.look_up({&path, 1}).at(0);
  if (node.is_directory()) throw TreeError(TreeError::Kind::kIsDirectory, doing, path);
  const nlohmann::json source = documents_.source_at(doing, path);
  return StoredObject(path.text(), source).text_if_any("contents").value_or("");
}

void Tree::search(const TreePath& path, TreeDepth depth, const std::string& words,
                  const std::function<void(const TreeEntry&)>& sink, const Unreadable& unreadable) {
  if (!tree_can_be_read(client_, config_.index))
    throw TreeError(TreeError::Kind::kNotFound, "searching " + path.text(), path);
  documents_.refresh();
  search_tree(client_, documents_, path, depth, words, sink, unreadable);
}

void Tree::list(const TreePath& path, TreeDepth depth, const std::function<void(const TreeEntry&)>& sink,
                const Unreadable& unreadable) {
  if (!tree_can_be_read(client_, config_.index)) {
    if (!path.is_root()) throw TreeError(TreeError::Kind::kNotFound, "listing " + path.text(), path);
    return;
  }
  documents_.refresh();
  list_tree(client_, documents_, path, depth, sink, unreadable);
}

SweepResult Tree::recover() {
  const SweepResult result = sweep(locks_, *roll_forward_);
  if (tree_index_exists(client_, config_.index)) staged_.clear_up(locks_);
  return result;
}

std::optional<Refusal> Tree::change(const TreeIntent& intent, const std::string* contents,
                                    const TreeOptions& options) {
  const std::string doing = doing_of(intent);
  const Patience patience(options.wait, options.stop);
  for (int tried = 0; tried < kTries || patience.left() > milliseconds(0); ++tried) {
    OperationIntent entry = journal_intent(intent, config_.index);
    entry.under = options.under;
    const LockSet locks = planner_.locks_for(intent);
    Begun begun{.intent = intent, .operation = patience.insist([&] { return locks_.open(entry, locks); })};
    if (!begin(begun, contents, patience.left(), options.stop)) continue;
    if (begun.refusal) return begun.refusal;
    try {
      write(begun, contents, options);
      locks_.finish(begun.operation, OperationState::kDone, "");
      locks_.release(begun.operation);
      prune_sometimes(begun.operation);
      return std::nullopt;
    } catch (const LeaseLost& lost) {
      using When = TreeOperationLost::When;
      throw TreeOperationLost(lost.over() ? When::kOver : When::kAfterCommit, doing, lost.what());
    } catch (const Error& error) {
      throw unfinished(error);
    }
  }
  throw Error({doing, "documents come and go faster than they can be locked",
               "write locking = \"tree\" in [tree], in every configuration that changes this tree"});
}

void Tree::prune_sometimes(const Operation& operation) {
  if (operation.token % kChangesOfAPruning != 0) return;
  try {
    locks_.prune(kHistory);
  } catch (const Error&) {
    // The change itself is done, and a later one prunes.
  }
}

bool Tree::begin(Begun& begun, const std::string* contents, milliseconds wait, const std::stop_token& stop) {
  Operation& operation = begun.operation;
  try {
    begun.refusal = acquire(locks_, operation, *roll_forward_, {.limit = wait, .stop = stop});
    if (begun.refusal) {
      give_up(begun, text_of(*begun.refusal));
      return true;
    }
    documents_.refresh();
    Every renewal(locks_.lease() / 3, SystemClock().now());
    begun.plan = planner_.plan(begun.intent, [&] {
      if (renewal.due(SystemClock().now())) locks_.renew(operation);
    });
    if (!planner_.covers(operation.locks, begun.intent, begun.plan)) {
      give_up(begun, "the documents to lock have changed");
      return false;
    }
    if (begun.intent.creates())
      begun.staged = staged_.stage(operation, begun.intent, fields(begun, contents));
    if (stop.stop_requested())
      throw Error({doing_of(begun.intent), "interrupted", "nothing was changed; try again"});
    begun.since = SystemClock().now();
    locks_.commit(operation);
    return true;
  } catch (const LeaseLost& lost) {
    if (lost.over()) {
      locks_.release(operation);
      if (begun.intent.creates()) staged_.remove(operation.id);
    }
    throw TreeOperationLost(TreeOperationLost::When::kBeforeCommit, doing_of(begun.intent), lost.what());
  } catch (const Error& error) {
    give_up(begun, error.what());
    throw;
  }
}

nlohmann::json Tree::fields(const Begun& begun, const std::string* contents) {
  if (contents != nullptr) return {{"contents", *contents}};
  if (begun.intent.kind != TreeIntent::Kind::kCopy) return nlohmann::json::object();
  return documents_.source_at(doing_of(begun.intent), begun.intent.path);
}

void Tree::give_up(Begun& begun, const std::string& reason) {
  try {
    locks_.finish(begun.operation, OperationState::kAborted, reason);
    locks_.release(begun.operation);
    if (begun.intent.creates()) staged_.remove(begun.operation.id);
  } catch (const std::runtime_error&) {
    // The caller reports why we give up; the lease ends by itself.
  }
}

void Tree::write(Begun& begun, const std::string* contents, const TreeOptions& options) {
  const TreeScope scope(begun.operation, begun.intent);
  std::int64_t done = 0;
  TreeLease lease(locks_, begun.operation, begun.since, options.stop, {.tell = options.hindered});
  TreeWrites writes(client_, documents_, painless_, lease, scope, [&](std::int64_t more) {
    done += more;
    options.progress(done, std::max(done, begun.plan.total));
  });
  if (!begun.intent.creates()) {
    writes.change(begun.plan.known);
  } else if (contents == nullptr) {
    writes.put(TreeWrites::Put{*begun.staged, {}, {}});
  } else {
    writes.put(TreeWrites::Put{*begun.staged, *contents, begun.plan.known});
  }
}

std::unique_ptr<Tree> open_tree(const Config& config, LockManager& locks) {
  return std::make_unique<Tree>(locks, make_transport_factory(config.elasticsearch)(), config.tree,
                                config.elasticsearch.request_timeout);
}

}  // namespace lockstep
