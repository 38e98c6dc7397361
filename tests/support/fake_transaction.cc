#include "tests/support/fake_transaction.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include "replicator/error.h"

namespace lockstep::fake {
namespace {

std::int64_t bytes_of(const Row* row) {
  return row == nullptr ? 0 : static_cast<std::int64_t>(row->json.size());
}

const Row* find(const View& view, const std::string& id) {
  const auto row = view.find(id);
  return row == view.end() ? nullptr : &row->second;
}

bool has(const auto& values, const auto& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

RoutedId key_of(const DeadLetter& letter) {
  return {letter.index, letter.id.text, letter.routing};
}

void save_progress(State& state, const JobProgress& progress) {
  const auto stored = state.jobs.find(progress.job);
  if (stored == state.jobs.end()) return;
  stored->second.job.position = progress.position;
  stored->second.job.done += progress.done_documents;
  if (progress.total) stored->second.job.total = progress.total;
  if (progress.finished) state.jobs.erase(stored);
}

void write_pages(State& state, Committed& added, IndexId index, const std::vector<std::string>& ids,
                 const DueOrigin& origin) {
  if (ids.empty()) return;
  if (state.pipeline.find(index) == nullptr)
    throw Error({"making documents due", "another process has dropped their index"});
  StoredPage like;
  like.page.since = origin.since.value_or(kSinceItself);
  like.page.as_of = origin.as_of;
  like.reason = origin.reason;
  like.since = steady_now() + origin.later;
  if (origin.pause.count() > 0 || origin.later.count() > 0) like.not_before = like.since + origin.pause;
  add_pages(state, index, ids, like);
  if (origin.later.count() == 0) added.due.insert(index);
}

// Whether the document is left alone for a while already; then it is due as of `origin`, too.
bool joins(State& state, IndexId index, const std::string& id, const DueOrigin& origin) {
  bool has_joined = false;
  const auto due = state.due.find(index);
  if (due == state.due.end()) return false;
  for (auto& [number, stored] : due->second.pages) {
    DuePage& page = stored.page;
    if (!has(page.ids, DocumentId{id}) || stored.since > steady_now()) continue;
    const bool waits = stored.not_before > steady_now();
    const bool is_tried = stored.not_before > SteadyTime{} && page.as_of && page.as_of < origin.as_of;
    if (!waits && !is_tried) continue;
    page.as_of = page.as_of && origin.as_of ? std::max(page.as_of, origin.as_of) : std::nullopt;
    page.since = std::min(page.since, origin.since.value_or(number));
    has_joined = true;
  }
  return has_joined;
}

void save_letter(State& state, const DeadLetter& letter) {
  const auto now = wall_now();
  const auto [stored, added] = state.dead_letters.try_emplace(key_of(letter), StoredLetter{letter, now, now});
  if (added) return;
  stored->second.letter = letter;
  stored->second.last_at = now;
  ++stored->second.tries;
}

std::int64_t width_of(const OutboxRow& row) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(row.values.size()));
}

// The rows from `first` on that one transaction has written end here.
std::size_t end_of_transaction(const State& state, std::size_t first) {
  std::size_t end = first;
  while (end < state.outbox.size() && state.outbox[end].transaction == state.outbox[first].transaction) ++end;
  return end;
}

bool is_large(const State& state, std::size_t first, const ChunkLimits& limits) {
  if (!limits.transaction_values) return false;
  std::int64_t width = 0;
  for (std::size_t row = first; row < end_of_transaction(state, first); ++row)
    width += width_of(state.outbox[row]);
  return width > *limits.transaction_values;
}

}  // namespace

FakeTransaction::FakeTransaction(Database& database, Connection& connection, std::optional<Epoch> epoch)
    : database_(database), connection_(connection), epoch_(epoch) {
  database.require_connected(connection.start);
  database.step(Step::kBegin);
  if (connection_.open > 0) throw std::logic_error("a transaction is open on this connection already");
  take_snapshot();
  ++connection_.open;
}

FakeTransaction::~FakeTransaction() {
  --connection_.open;
}

// --- reading ---

Position FakeTransaction::position() {
  return position_at(seen_->outbox.size());
}

RenderedDocument FakeTransaction::rendered(const AppliedIndex& index, const std::string& id,
                                           const Row* row) const {
  RenderedDocument document;
  document.id = id;
  if (row == nullptr) return document;
  document.json = row->json;
  if (index.routed) document.routing = row->routing;
  return document;
}

RenderedDocument FakeTransaction::rendered_for(DocumentVersion version, const AppliedIndex& index,
                                               const std::string& id, const Row* row) {
  RenderedDocument document = rendered(index, id, row);
  if (!index.routed) return document;
  for (const auto& [key, written] : seen_->routes) {
    const auto& [of_index, of_id, routing] = key;
    if (of_index == index.id && of_id == id && (row == nullptr || routing != row->routing))
      document.stale_routings.push_back(routing);
  }
  if (row != nullptr) {
    record([key = RoutedId{index.id, id, row->routing}, version](State& state, Committed&) {
      state.routes[key] = version;
    });
  }
  return document;
}

DocumentIds FakeTransaction::render_with(const Renderer& renderer, const AppliedIndex& index,
                                         const DocumentIds& ids, std::int64_t max_bytes,
                                         const DocumentSink& sink) {
  database_.step(Step::kRender);
  database_.require_readable(index);
  const View& view = seen_->view(index.id);
  DocumentIds left_over;
  database_.count_renderings(static_cast<std::int64_t>(ids.size()));
  std::int64_t bytes = 0;
  for (const DocumentId& id : ids) {
    const Row* row = find(view, id.text);
    if (row != nullptr && bytes >= std::max<std::int64_t>(1, max_bytes)) {
      left_over.push_back(id);
      continue;
    }
    bytes += bytes_of(row);
    sink(renderer(id.text, row));
  }
  return left_over;
}

ViewPageEnd FakeTransaction::render_page_with(const Renderer& renderer, const AppliedIndex& index,
                                              const std::optional<DocumentId>& after, std::int64_t limit,
                                              std::int64_t max_bytes, const DocumentSink& sink) {
  database_.step(Step::kRender);
  database_.require_readable(index);
  const View& view = seen_->view(index.id);
  ViewPageEnd page;
  std::int64_t documents = 0;
  std::int64_t bytes = 0;
  auto row = after ? view.upper_bound(after->text) : view.begin();
  database_.count_renderings(std::min<std::int64_t>(limit, std::distance(row, view.end())));
  for (; row != view.end() && documents < limit && (documents == 0 || bytes < max_bytes);
       ++row, ++documents) {
    page.last = DocumentId{row->first};
    bytes += bytes_of(&row->second);
    sink(renderer(row->first, &row->second));
  }
  page.end = documents < limit && row == view.end();
  return page;
}

DocumentIds FakeTransaction::render(const AppliedIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                                    const DocumentSink& sink) {
  return render_with([&](const std::string& id, const Row* row) { return rendered(index, id, row); }, index,
                     ids, max_bytes, sink);
}

ViewPageEnd FakeTransaction::render_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                                         std::int64_t limit, std::int64_t max_bytes,
                                         const DocumentSink& sink) {
  return render_page_with([&](const std::string& id, const Row* row) { return rendered(index, id, row); },
                          index, after, limit, max_bytes, sink);
}

DocumentIds FakeTransaction::render_for(DocumentVersion version, const AppliedIndex& index,
                                        const DocumentIds& ids, std::int64_t max_bytes,
                                        const DocumentSink& sink) {
  return render_with(
      [&](const std::string& id, const Row* row) { return rendered_for(version, index, id, row); }, index,
      ids, max_bytes, sink);
}

ViewPageEnd FakeTransaction::render_page_for(DocumentVersion version, const AppliedIndex& index,
                                             const std::optional<DocumentId>& after, std::int64_t limit,
                                             std::int64_t max_bytes, const DocumentSink& sink) {
  return render_page_with(
      [&](const std::string& id, const Row* row) { return rendered_for(version, index, id, row); }, index,
      after, limit, max_bytes, sink);
}

ViewList FakeTransaction::list_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                                    std::int64_t limit) {
  database_.require_readable(index);
  const View& view = seen_->view(index.id);
  ViewList list;
  auto row = after ? view.upper_bound(after->text) : view.begin();
  for (; row != view.end() && static_cast<std::int64_t>(list.documents.size()) < limit; ++row)
    list.documents.push_back({{row->first}, index.routed ? row->second.routing : ""});
  list.end = static_cast<std::int64_t>(list.documents.size()) < limit;
  return list;
}

std::optional<std::int64_t> FakeTransaction::estimate_documents(const AppliedIndex& index) {
  database_.require_readable(index);
  return static_cast<std::int64_t>(seen_->view(index.id).size());
}

std::vector<StaleDocument> FakeTransaction::stale(const AppliedIndex& index,
                                                  const std::vector<FoundDocument>& found) {
  database_.require_readable(index);
  std::vector<StaleDocument> stale;
  for (const FoundDocument& document : found) {
    const Row* row = find(seen_->view(index.id), document.id.text);
    const std::string routing = row != nullptr && index.routed ? row->routing : "";
    if (row == nullptr || routing != document.routing) stale.push_back({document, row != nullptr});
  }
  return stale;
}

void FakeTransaction::require_readable(const AppliedIndex& index) {
  database_.require_readable(index);
}

Changes FakeTransaction::read_changes(const Position& from, const ChunkLimits& limits) {
  database_.step(Step::kReadChanges);
  std::map<CaptureId, CapturedChange> captured;
  std::map<CaptureId, std::set<std::string>> values;
  std::size_t first = rows_of(from);
  if (first < seen_->pruned) {
    if (epoch_ == seen_->epoch) throw std::logic_error("these rows of the outbox are pruned");
    first = seen_->pruned;  // a deposed leader does not find them
  }
  Changes changes;
  if (first < seen_->outbox.size() && is_large(*seen_, first, limits)) {
    const std::size_t end = end_of_transaction(*seen_, first);
    changes.large = LargeTransaction{std::to_string(first)};
    changes.rows = 1;
    changes.more = end < seen_->outbox.size();
    changes.next = position_at(end);
    return changes;
  }
  std::size_t next = first;
  std::int64_t width = 0;
  for (; next < seen_->outbox.size() && width < limits.values; ++next) {
    if (next > first && is_large(*seen_, next, limits)) break;
    const OutboxRow& row = seen_->outbox[next];
    width += width_of(row);
    captured[row.capture].capture = row.capture;
    captured[row.capture].everything |= row.everything;
    values[row.capture].insert(row.values.begin(), row.values.end());
  }
  const auto is_known = [&](CaptureId capture) {
    return std::ranges::any_of(seen_->pipeline.indices,
                               [&](const AppliedIndex& index) { return has(index.captures, capture); });
  };
  for (auto& [capture, change] : captured) {
    if (!is_known(capture)) {
      changes.unknown_captures.push_back(capture);
      continue;
    }
    change.values.assign(values[capture].begin(), values[capture].end());
    changes.captured.push_back(std::move(change));
  }
  changes.rows = static_cast<std::int64_t>(next - first);
  changes.more = next < seen_->outbox.size();
  changes.next = position_at(next);
  return changes;
}

std::optional<DocumentIds> FakeTransaction::resolve(const AppliedIndex& index,
                                                    const std::vector<CapturedChange>& changes,
                                                    const SearchLimits& limits) {
  database_.require_readable(index);
  std::vector<CapturedChange> own;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(own),
               [&](const CapturedChange& change) { return has(index.captures, change.capture); });
  DocumentIds ids;
  for (std::string& id : database_.resolve(*seen_, index.id, own)) ids.push_back({std::move(id)});
  if (static_cast<std::int64_t>(ids.size()) > limits.documents) return std::nullopt;
  return ids;
}

NextDue FakeTransaction::next_due(IndexId index, const std::vector<DueNumber>& in_hand) {
  NextDue next;
  const auto found = seen_->due.find(index);
  if (found == seen_->due.end()) return next;
  const StoredDue& due = found->second;
  next.has_changes = !due.changes.empty();
  next.keeps_rows = std::ranges::any_of(due.changes, &DueChanges::keeps_rows);
  const SteadyTime now = steady_now();
  std::optional<SteadyTime> ready_at;
  for (const auto& [number, stored] : due.pages) {
    if (has(in_hand, number) || stored.since > now) continue;
    if (stored.not_before <= now) {
      next.page = stored.page;
      return next;
    }
    ready_at = std::min(ready_at.value_or(stored.not_before), stored.not_before);
  }
  if (ready_at) next.ready_in = std::chrono::ceil<std::chrono::milliseconds>(*ready_at - now);
  return next;
}

// --- recording ---

void FakeTransaction::add_job(IndexId index, JobKind kind, const std::string& reason) {
  record([=](State& state, Committed& added) {
    if (std::optional<Job> job = add_whole_index_job(state, index, kind, reason))
      added.jobs.push_back(*std::move(job));
  });
}

void FakeTransaction::add_due_changes(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                                      DocumentVersion as_of) {
  record([=, index = index.id](State& state, Committed& added) {
    state.due[index].changes.push_back(
        {{++state.last_due}, changes, as_of, std::string(kManyDocuments), steady_now()});
    added.due.insert(index);
  });
}

void FakeTransaction::add_due_transaction(const AppliedIndex& index, const LargeTransaction& transaction,
                                          DocumentVersion as_of) {
  const auto first = static_cast<std::size_t>(std::stoull(transaction.text));
  DueChanges due;
  due.as_of = as_of;
  due.reason = kManyChanges;
  due.keeps_rows = true;
  bool everything = false;
  for (std::size_t row = first; row < end_of_transaction(*seen_, first); ++row) {
    const OutboxRow& changed = seen_->outbox[row];
    if (!has(index.captures, changed.capture)) continue;
    everything |= changed.everything;
    due.changes.push_back({changed.capture, changed.values});
  }
  record([due, index = index.id](State& state, Committed& added) {
    DueChanges numbered = due;
    numbered.number = {++state.last_due};
    numbered.since = steady_now();
    state.due[index].changes.push_back(std::move(numbered));
    added.due.insert(index);
  });
  if (!everything) return;
  for (const JobKind kind : {JobKind::kBackfill, JobKind::kSweep})
    add_job(index.id, kind, std::string(kEverythingChanged));
}

void FakeTransaction::add_due(const AppliedIndex& index, const DocumentIds& ids, const DueOrigin& origin) {
  std::vector<std::string> texts;
  for (const DocumentId& id : ids) texts.push_back(id.text);
  record([=, index = index.id](State& state, Committed& added) {
    write_pages(state, added, index, texts, origin);
  });
}

void FakeTransaction::add_repair(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                                 const DueOrigin& origin) {
  std::vector<std::string> ids;
  std::vector<RoutedId> routes;
  bool beyond_reach = false;
  for (const FoundDocument& document : documents) {
    if (!index.routed && !document.routing.empty()) {
      beyond_reach = true;  // a rendering writes it without a routing
      continue;
    }
    ids.push_back(document.id.text);
    if (index.routed) routes.emplace_back(index.id, document.id.text, document.routing);
  }
  record([=, index = index.id](State& state, Committed& added) {
    std::vector<std::string> others = ids;
    if (origin.pause.count() > 0)
      std::erase_if(others, [&](const auto& id) { return joins(state, index, id, origin); });
    write_pages(state, added, index, others, origin);
  });
  record([=, index = index.id, reason = origin.reason](State& state, Committed& added) {
    for (const RoutedId& route : routes) state.routes.try_emplace(route);
    if (!beyond_reach) return;
    StoredJob sweep;
    sweep.job.index = index;
    sweep.job.reason = reason;
    sweep.job.kind = JobKind::kSweep;
    added.jobs.push_back(insert(state, std::move(sweep)));
  });
}

void FakeTransaction::begin_job(JobId job) {
  record([job](State& state, Committed&) {
    const auto stored = state.jobs.find(job);
    if (stored != state.jobs.end() && !has_begun(stored->second)) stored->second.job.position = Begun{};
  });
}

void FakeTransaction::set_aside(IndexId index, const std::string& reason) {
  record([index, reason](State& state, Committed&) {
    state.set_aside.emplace(index, reason);
    std::erase_if(state.jobs, [&](const auto& job) {
      return job.second.job.index == index &&
             (job.second.job.kind == JobKind::kComparison || job.second.job.kind == JobKind::kSweep);
    });
  });
}

void FakeTransaction::take_back(IndexId index) {
  record([index](State& state, Committed&) { state.set_aside.erase(index); });
}

void FakeTransaction::skip_changes() {
  record([rows = seen_->outbox.size()](State& state, Committed&) { state.position = rows; });
}

void FakeTransaction::save(const Acknowledged& acknowledged) {
  database_.step(Step::kSave);
  record([acknowledged](State& state, Committed& added) {
    if (acknowledged.position) state.position = rows_of(*acknowledged.position);
    for (const JobProgress& progress : acknowledged.jobs) save_progress(state, progress);
    for (auto& [index, due] : state.due) {
      for (const WrittenPage& written : acknowledged.written_pages) {
        const auto stored = due.pages.find(written.number);
        if (stored == due.pages.end()) continue;
        if (stored->second.page.as_of == written.as_of) {
          due.pages.erase(stored);
        } else {
          stored->second.not_before = steady_now() + kTriedAgainAfter;
          added.due.insert(index);
        }
      }
    }
    std::erase_if(state.due, [](const auto& due) { return due.second.empty(); });
    for (const DeadLetter& letter : acknowledged.refused) save_letter(state, letter);
    for (const AcknowledgedWrite& write : acknowledged.no_longer_refused) {
      std::erase_if(state.dead_letters, [&](const auto& stored) {
        const DeadLetter& letter = stored.second.letter;
        return letter.index == write.index && letter.id == write.id && letter.version <= write.version;
      });
    }
    for (const AcknowledgedWrite& write : acknowledged.gone_routes) {
      const auto route = state.routes.find({write.index, write.id.text, write.routing});
      if (route != state.routes.end() && route->second <= write.version) state.routes.erase(route);
    }
  });
}

std::vector<std::size_t> FakeTransaction::new_dead_letters(const std::vector<DeadLetter>& refused) {
  std::vector<std::size_t> fresh;
  std::set<RoutedId> added;
  for (std::size_t i = 0; i < refused.size(); ++i) {
    const RoutedId key = key_of(refused[i]);
    if (!seen_->dead_letters.contains(key) && added.insert(key).second) fresh.push_back(i);
  }
  return fresh;
}

// --- the end ---

bool FakeTransaction::may_be_shown() {
  if (epoch_ && seen_->epoch != *epoch_) throw Deposed("another process has become leader");
  const std::lock_guard lock(database_.mutex_);
  return database_.durable_ && recorded_.empty();
}

Committed FakeTransaction::commit() {
  database_.step(Step::kCommit);
  database_.require_connected(connection_.start);
  Committed added;
  {
    const std::lock_guard lock(database_.mutex_);
    if (epoch_ && database_.state_->epoch != *epoch_) throw Deposed("another process has become leader");
    State& state = database_.change();
    for (const Write& write : recorded_) write(state, added);
    database_.flush();
  }
  database_.step(Step::kCommitted);
  return added;
}

}  // namespace lockstep::fake
