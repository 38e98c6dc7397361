#include "replicator/tree/tree_writes.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "replicator/tree/server_task.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;

/// Documents in a bulk request. With more than that left, the server changes them itself.
constexpr std::size_t kBulkDocuments = 1'000;
constexpr milliseconds kFirstPoll{5};
constexpr milliseconds kLastPoll{200};
constexpr const char* kChanging = "changing documents of the tree";

bool is_document_lock(const LockSet& locks) {
  const bool exclusive = std::all_of(locks.begin(), locks.end(), [](const LockRequest& request) {
    return request.mode == LockMode::kExclusive;
  });
  return exclusive && locks != global_lock();
}

}  // namespace

TreeScope::TreeScope(const Operation& operation, TreeIntent its_intent)
    : id(operation.id), intent(std::move(its_intent)) {
  if (!is_document_lock(operation.locks)) return;
  locked.emplace();
  for (const LockRequest& request : operation.locks) locked->insert(request.name.text());
}

TreeWrites::TreeWrites(ElasticsearchClient& client, TreeDocuments& documents, Painless painless,
                       TreeLease& lease, const TreeScope& scope, std::function<void(std::int64_t)> progressed)
    : client_(client),
      documents_(documents),
      painless_(painless),
      lease_(lease),
      scope_(scope),
      progressed_(std::move(progressed)) {}

void TreeWrites::change(std::span<const TreeDocument> known) {
  const TreeChange change(scope_.intent);
  std::int64_t conflicts = 0;
  for (std::size_t begin = 0; begin < known.size(); begin += kBulkDocuments) {
    const auto page = known.subspan(begin, std::min(kBulkDocuments, known.size() - begin));
    lease_.persist([&] { conflicts += change_page(change, page); });
  }
  bool done = !known.empty() && conflicts == 0;
  while (!done) {
    lease_.persist([&] {
      documents_.refresh();
      const bool many = static_cast<std::size_t>(documents_.count(change.query())) > kBulkDocuments;
      const bool in_server = many && painless_ == Painless::kHere && !scope_.locked;
      // Documents that the server has passed over are looked at here, one at a time.
      if (in_server && change_in_server(change) > 0) return;
      done = change_by_client(change) == 0;
    });
  }
}

std::int64_t TreeWrites::change_by_client(const TreeChange& change) {
  const std::vector<TreeDocument> first = documents_.find(change.query(), kBulkDocuments);
  if (first.size() < kBulkDocuments) return change_page(change, first);
  std::int64_t conflicts = 0;
  documents_.scan(change.query(), kBulkDocuments,
                  [&](std::span<const TreeDocument> page) { conflicts += change_page(change, page); });
  return conflicts;
}

bool TreeWrites::concerned(const TreeChange& change, const TreeDocument& document) const {
  return document.is_at_or_below(change.from()) && (!scope_.locked || scope_.locked->contains(document.id));
}

std::int64_t TreeWrites::change_page(const TreeChange& change, std::span<const TreeDocument> page) {
  lease_.check();
  std::vector<TreeDocument> those;
  std::ranges::copy_if(page, std::back_inserter(those),
                       [&](const TreeDocument& document) { return concerned(change, document); });
  overcome_fences(those);
  BulkCall bulk(documents_.index());
  for (const TreeDocument& document : those) change.add_to(bulk, document, lease_.token());
  std::int64_t done = 0;
  for (const BulkOutcome& outcome : bulk.send(client_, kChanging)) {
    if (outcome.status != kConflict && outcome.status != kNotFound) ++done;
  }
  lease_.progress(done);
  progressed_(done);
  return static_cast<std::int64_t>(bulk.size()) - done;
}

std::int64_t TreeWrites::change_in_server(const TreeChange& change) {
  ServerTask task = ServerTask::start(client_, documents_.index(), change.task(lease_.token()));
  std::int64_t changed = 0;
  try {
    lease_.record_task(task.id());
    milliseconds pause = kFirstPoll;
    for (bool ended = false; !ended;) {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLastPoll);
      lease_.check();
      const ServerTask::State state = task.state();
      lease_.progress(std::max<std::int64_t>(0, state.changed - changed));
      progressed_(std::max<std::int64_t>(0, state.changed - changed));
      changed = std::max(changed, state.changed);
      ended = state.ended;
    }
  } catch (const LeaseLost&) {
    task.cancel();
    throw;
  }
  task.forget();
  return changed;
}

void TreeWrites::overcome_fences(std::span<const TreeDocument> documents) {
  FencingToken greatest = 0;
  bool beyond = false;
  for (const TreeDocument& document : documents) {
    if (document.fence < lease_.token()) continue;
    if (document.fence > kMostExceeded) {
      beyond = true;
    } else {
      greatest = std::max(greatest, document.fence);
    }
  }
  if (greatest > 0) {
    lease_.exceed(greatest);
  } else if (beyond) {
    lease_.confirm();
  }
}

void TreeWrites::put(std::optional<Put> known) {
  bool done = false;
  while (!done) {
    lease_.persist([&] {
      if (!known) known = read_put();
      done = !known || try_put(*known);
      known.reset();
    });
  }
}

std::optional<TreeWrites::Put> TreeWrites::read_put() {
  std::optional<TreeDocuments::Whole> staged = documents_.get(scope_.id);
  // Gone, or a file already: an earlier owner did everything.
  if (!staged || !staged->document.path.empty()) return std::nullopt;
  if (scope_.intent.kind != TreeIntent::Kind::kPut) return Put{std::move(staged->document), {}, {}};
  if (!staged->contents)
    throw missing_value("the document " + scope_.id + " of " + documents_.index(), "contents");
  documents_.refresh();
  TreeNode node = documents_.look_up({&scope_.intent.path, 1}).at(0);
  return Put{std::move(staged->document), *std::move(staged->contents), std::move(node.documents)};
}

bool TreeWrites::try_put(const Put& put) {
  lease_.check();
  BulkCall writes(documents_.index());
  overcome_fences(put.there);
  for (const TreeDocument& document : put.there) {
    writes.add("update", document.id, bulk_condition(document),
               {{"doc", {{"contents", put.contents}, {"fence", lease_.token()}}}});
  }
  BulkCall removal(documents_.index());
  if (put.there.empty()) {
    const TreePath& path = scope_.intent.target();
    const bool directory = scope_.intent.kind == TreeIntent::Kind::kMakeDirectory;
    writes.add("update", put.staged.id, bulk_condition(put.staged),
               {{"doc",
                 {{"path", path.directory()},
                  {"name", path.name()},
                  {"kind", directory ? kDirectoryKind : kFileKind},
                  {"fence", lease_.token()}}}});
  } else {
    removal.add("delete", put.staged.id, bulk_condition(put.staged), nullptr);
  }
  for (const BulkOutcome& outcome : writes.send(client_, kChanging)) {
    if (outcome.status == kConflict || outcome.status == kNotFound) return false;
  }
  for (const BulkOutcome& outcome : removal.send(client_, kChanging)) {
    if (outcome.status == kConflict) return false;
  }
  lease_.progress(1);
  progressed_(1);
  return true;
}

}  // namespace lockstep
