#include "replicator/tree/tree.h"

#include <algorithm>
#include <utility>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/locks/acquire.h"
#include "replicator/tree/tree_index.h"
#include "replicator/tree/tree_lease.h"
#include "replicator/tree/tree_writes.h"

namespace lockstep {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// How often, at least, the documents to be locked may have become others when they are locked; beyond that
/// only while there is time to wait.
constexpr int kChangedMinds = 10;

Error lost_before(const std::string& doing, const LeaseLost& lost) {
  return Error({doing, lost.what(), "nothing was changed; try again"});
}

Error lost_after(const std::string& doing, const LeaseLost& lost) {
  return Error({doing, lost.what(), "whoever took it over finishes it; `lockstep locks list` shows by whom"});
}

Error unfinished(const Error& error) {
  Error::Parts parts = error.parts();
  parts.remedy +=
      (parts.remedy.empty() ? "" : "; then ") + std::string("`lockstep tree recover` does the rest");
  return Error(parts);
}

bool is_utf8(const std::string& text) {
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

}  // namespace

/// A change up to its commit.
struct Tree::Begun {
  Operation operation;
  std::optional<Refusal> refusal = {};  ///< it was not to be had, and is over
  TreePlan plan = {};
  std::optional<TreeDocument> staged = {};
  SteadyTime since = {};  ///< before the commit, with which the lease began
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
  locks_.prepare();
  painless_ = install_lock_scripts(client_);
  roll_forward_ = std::make_unique<TreeRollForward>(client_, documents_, painless_);
}

std::optional<Refusal> Tree::move(const TreePath& from, const TreePath& to, const TreeOptions& options) {
  if (from.is_root()) throw UsageError("the root cannot be moved; name what is in it");
  if (to.is_root()) throw UsageError("the root is no new name; name a place in it");
  const OperationIntent intent{.kind = "mv", .from = from.text(), .to = to.text(), .target = config_.index};
  if (from.contains(to)) throw TreeError(TreeError::Kind::kIntoItself, doing_of(intent), to.text());
  if (from == to) {
    documents_.refresh();
    if (!documents_.look_up({&from, 1}).at(0).exists())
      throw TreeError(TreeError::Kind::kNotFound, doing_of(intent), from.text());
    return std::nullopt;
  }
  return change(intent, nullptr, options);
}

std::optional<Refusal> Tree::remove(const TreePath& path, const TreeOptions& options) {
  if (path.is_root()) throw UsageError("the root cannot be removed; name what is in it");
  return change({.kind = "rm", .from = path.text(), .target = config_.index}, nullptr, options);
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
                     " are not UTF-8, which Elasticsearch does not take; convert them");
  }
  return change({.kind = "put", .from = path.text(), .target = config_.index}, &contents, options);
}

void Tree::list(const TreePath& path, TreeDepth depth, const std::function<void(const TreeEntry&)>& sink) {
  if (!tree_index_exists(client_, config_.index)) {
    if (!path.is_root()) throw TreeError(TreeError::Kind::kNotFound, "listing " + path.text(), path.text());
    return;
  }
  documents_.refresh();
  list_tree(client_, documents_, path, depth, sink);
}

SweepResult Tree::recover() {
  const SweepResult result = sweep(locks_, *roll_forward_);
  staged_.sweep(locks_);
  return result;
}

std::optional<Refusal> Tree::change(const OperationIntent& intent, const std::string* contents,
                                    const TreeOptions& options) {
  const std::string doing = doing_of(intent);
  const SystemClock clock;
  const SteadyTime end = clock.now() + options.wait;
  for (int changed_minds = 0; changed_minds < kChangedMinds || clock.now() < end; ++changed_minds) {
    Begun begun{.operation = locks_.open(intent, planner_.locks_for(intent))};
    const auto left = std::chrono::ceil<milliseconds>(end - clock.now());
    if (!begin(begun, contents, std::max(left, milliseconds(0)), options.stop)) continue;
    if (begun.refusal) return begun.refusal;
    try {
      write(begun, contents, options);
      locks_.finish(begun.operation, OperationState::kDone, "");
      locks_.release(begun.operation);
      return std::nullopt;
    } catch (const LeaseLost& lost) {
      throw lost_after(doing, lost);
    } catch (const Error& error) {
      throw unfinished(error);
    }
  }
  throw Error({doing, "documents come and go faster than they can be locked",
               "write locking = \"tree\" in [tree], for everybody who changes this tree"});
}

bool Tree::begin(Begun& begun, const std::string* contents, milliseconds wait, const std::stop_token& stop) {
  Operation& operation = begun.operation;
  try {
    begun.refusal = acquire(locks_, operation, *roll_forward_, {.limit = wait, .stop = stop});
    if (begun.refusal) {
      give_up(operation, text_of(*begun.refusal));
      return true;
    }
    documents_.refresh();
    begun.plan = planner_.plan(operation.intent);
    if (!planner_.covers(operation, begun.plan)) {
      give_up(operation, "what was to be locked has changed");
      return false;
    }
    if (contents != nullptr) begun.staged = staged_.stage(operation, *contents);
    if (stop.stop_requested())
      throw Error({doing_of(operation.intent), "interrupted", "nothing was changed; try again"});
    begun.since = SystemClock().now();
    locks_.commit(operation);
    return true;
  } catch (const LeaseLost& lost) {
    if (lost.over()) {
      locks_.release(operation);
      if (contents != nullptr) staged_.remove(operation.id);
    }
    throw lost_before(doing_of(operation.intent), lost);
  } catch (const Error& error) {
    give_up(operation, error.what());
    throw;
  }
}

void Tree::give_up(Operation& operation, const std::string& reason) {
  try {
    locks_.finish(operation, OperationState::kAborted, reason);
    locks_.release(operation);
    if (operation.intent.kind == "put") staged_.remove(operation.id);
  } catch (const std::runtime_error&) {
    // What made us give up is what is to be reported; the lease ends by itself.
  }
}

void Tree::write(Begun& begun, const std::string* contents, const TreeOptions& options) {
  const TreeScope scope(begun.operation);
  std::int64_t done = 0;
  TreeLease lease(locks_, begun.operation, begun.since, options.stop);
  TreeWrites writes(client_, documents_, painless_, lease, scope, [&](std::int64_t more) {
    done += more;
    options.progress(done, std::max(done, begun.plan.total));
  });
  if (contents == nullptr) {
    writes.change(begun.plan.known);
  } else {
    writes.put(TreeWrites::Put{*begun.staged, *contents, begun.plan.known});
  }
}

std::unique_ptr<Tree> open_tree(const Config& config, LockManager& locks) {
  return std::make_unique<Tree>(locks, make_transport_factory(config.elasticsearch)(), config.tree,
                                config.elasticsearch.request_timeout);
}

}  // namespace lockstep
