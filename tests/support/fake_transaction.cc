#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "replicator/error.h"
#include "tests/support/fake_source.h"

namespace lockstep::fake {
namespace {

std::int64_t bytes_of(const Row* row) {
  return row == nullptr ? 0 : static_cast<std::int64_t>(row->json.size());
}

const Row* find(const View& view, const std::string& id) {
  const auto row = view.find(id);
  return row == view.end() ? nullptr : &row->second;
}

}  // namespace

FakeTransaction::FakeTransaction(Database& database, int& open, Access access)
    : database_(database), open_(open), access_(access) {
  database.step(Step::kBegin);
  if (open_ > 0) throw std::logic_error("a transaction is open on this connection already");
  seen_ = database.state();
  ++open_;
}

FakeTransaction::~FakeTransaction() {
  --open_;
}

void FakeTransaction::write(std::function<void(State&)> change) {
  if (access_ == Access::kReadOnly) throw std::logic_error("a transaction that only reads has written");
  change(seen_);
  writes_.push_back(std::move(change));
}

Changes FakeTransaction::read_changes(const Position& from, std::int64_t max_values) {
  database_.step(Step::kReadChanges);
  std::map<int, CapturedChange> captured;
  std::map<int, std::set<std::string>> values;
  const std::size_t first = std::stoull(from.text);
  std::size_t next = first;
  std::int64_t width = 0;
  for (; next < seen_.outbox.size() && width < max_values; ++next) {
    const OutboxRow& row = seen_.outbox[next];
    width += std::max<std::int64_t>(1, static_cast<std::int64_t>(row.values.size()));
    captured[row.capture].capture = row.capture;
    captured[row.capture].everything |= row.everything;
    values[row.capture].insert(row.values.begin(), row.values.end());
  }
  Changes changes;
  for (auto& [capture, change] : captured) {
    change.values.assign(values[capture].begin(), values[capture].end());
    changes.captured.push_back(std::move(change));
  }
  changes.rows = static_cast<std::int64_t>(next - first);
  changes.more = next < seen_.outbox.size();
  changes.next = Position{std::to_string(next)};
  return changes;
}

Values FakeTransaction::ids_of(const AppliedIndex& index, const std::vector<CapturedChange>& changes) const {
  Values ids;
  const auto add = [&](const std::string& id) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  for (const CapturedChange& change : changes) {
    if (change.everything) throw std::logic_error("what any row may have changed cannot be resolved");
    for (const AppliedTrack& track : index.tracks) {
      if (track.capture != change.capture) continue;
      for (const std::string& value : change.values) {
        if (track.resolver.empty()) {
          add(value);
          continue;
        }
        Database::Resolver resolve;
        {
          const std::lock_guard lock(database_.mutex_);
          resolve = database_.resolvers_.at(track.resolver);
        }
        for (const std::string& id : resolve(seen_, value)) add(id);
      }
    }
  }
  return ids;
}

std::optional<Values> FakeTransaction::resolve(const AppliedIndex& index,
                                               const std::vector<CapturedChange>& changes,
                                               std::int64_t limit) {
  Values ids = ids_of(index, changes);
  if (static_cast<std::int64_t>(ids.size()) > limit) return std::nullopt;
  return ids;
}

Job FakeTransaction::insert_job(int index, JobKind kind, const std::string& reason, const Values& ids) {
  StoredJob stored;
  {
    const std::lock_guard lock(database_.mutex_);
    stored.job.id = database_.next_job_++;
  }
  stored.job.index = index;
  stored.job.kind = kind;
  stored.job.reason = reason;
  for (const std::string& id : ids)
    stored.documents.emplace(static_cast<std::int64_t>(stored.documents.size()) + 1, id);
  if (kind == JobKind::kFanOut) stored.job.total = static_cast<std::int64_t>(ids.size());
  write([stored](State& state) { state.jobs[stored.job.id] = stored; });
  return stored.job;
}

Job FakeTransaction::add_fan_out(const AppliedIndex& index, const std::vector<CapturedChange>& changes) {
  return insert_job(index.id, JobKind::kFanOut, "a change of many documents", ids_of(index, changes));
}

RenderedDocument FakeTransaction::rendered(const AppliedIndex& index, const std::string& id, const Row* row,
                                           std::optional<DocumentVersion> version) {
  RenderedDocument document;
  document.id = id;
  if (row != nullptr) {
    document.json = row->json;
    if (index.routed) document.routing = row->routing;
  }
  if (!index.routed || !version) return document;
  for (const auto& [place, written] : seen_.routes) {
    const auto& [of_index, of_id, routing] = place;
    if (of_index == index.id && of_id == id && (row == nullptr || routing != row->routing))
      document.stale_routings.push_back(routing);
  }
  if (row != nullptr) {
    write([place = DocumentPlace{index.id, id, row->routing}, version](State& state) {
      state.routes[place] = *version;
    });
  }
  return document;
}

Values FakeTransaction::render(const AppliedIndex& index, const Values& ids, std::int64_t max_bytes,
                               std::optional<DocumentVersion> version, const DocumentSink& sink) {
  database_.step(Step::kRender);
  const View view = seen_.views[index.id];
  Values left_over;
  std::int64_t bytes = 0;
  for (const std::string& id : ids) {
    const Row* row = find(view, id);
    if (row != nullptr && bytes >= std::max<std::int64_t>(1, max_bytes)) {
      left_over.push_back(id);
      continue;
    }
    bytes += bytes_of(row);
    sink(rendered(index, id, row, version));
  }
  return left_over;
}

SourceTransaction::Page FakeTransaction::render_page(const AppliedIndex& index,
                                                     const std::optional<std::string>& after,
                                                     std::int64_t limit, std::int64_t max_bytes,
                                                     std::optional<DocumentVersion> version,
                                                     const DocumentSink& sink) {
  database_.step(Step::kRender);
  const View view = seen_.views[index.id];
  Page page;
  std::int64_t documents = 0;
  std::int64_t bytes = 0;
  auto row = after ? view.upper_bound(*after) : view.begin();
  for (; row != view.end() && documents < limit && (documents == 0 || bytes < max_bytes);
       ++row, ++documents) {
    page.last = row->first;
    bytes += bytes_of(&row->second);
    sink(rendered(index, row->first, &row->second, version));
  }
  page.end = documents < limit && row == view.end();
  return page;
}

SourceTransaction::JobPage FakeTransaction::job_page(const Job& job, const std::optional<std::string>& after,
                                                     std::int64_t limit) {
  JobPage page;
  page.position = after.value_or("0");
  const auto& documents = seen_.jobs.at(job.id).documents;
  auto document = documents.upper_bound(std::stoll(page.position));
  for (; document != documents.end() && static_cast<std::int64_t>(page.ids.size()) < limit; ++document) {
    page.ids.push_back(document->second);
    page.position = std::to_string(document->first);
  }
  page.end = static_cast<std::int64_t>(page.ids.size()) < limit;
  return page;
}

std::vector<StaleDocument> FakeTransaction::stale(const AppliedIndex& index,
                                                  const std::vector<FoundDocument>& found) {
  std::vector<StaleDocument> gone;
  for (const FoundDocument& document : found) {
    const Row* row = find(seen_.views[index.id], document.id);
    const std::string routing = row != nullptr && index.routed ? row->routing : "";
    if (row == nullptr || routing != document.routing) gone.push_back({document, row != nullptr});
  }
  return gone;
}

std::optional<Job> FakeTransaction::add_job(int index, JobKind kind, const std::string& reason) {
  for (const auto& [id, stored] : seen_.jobs) {
    if (stored.job.index == index && stored.job.kind == kind && !stored.begun) return std::nullopt;
  }
  return insert_job(index, kind, reason, {});
}

std::vector<Job> FakeTransaction::add_repair(const AppliedIndex& index,
                                             const std::vector<FoundDocument>& documents,
                                             const std::string& reason) {
  std::set<std::string> ids;
  bool beyond_reach = false;
  for (const FoundDocument& document : documents) {
    if (!index.routed && !document.routing.empty()) {
      beyond_reach = true;
      continue;
    }
    ids.insert(document.id);
    if (!index.routed) continue;
    write([place = DocumentPlace{index.id, document.id, document.routing}](State& state) {
      state.routes.try_emplace(place);
    });
  }
  std::vector<Job> jobs;
  if (!ids.empty())
    jobs.push_back(insert_job(index.id, JobKind::kFanOut, reason, Values(ids.begin(), ids.end())));
  if (beyond_reach) jobs.push_back(insert_job(index.id, JobKind::kSweep, reason, {}));
  return jobs;
}

void FakeTransaction::give_up_changes() {
  write([rows = seen_.outbox.size()](State& state) { state.position = rows; });
}

void FakeTransaction::set_aside(int index, const std::string& reason) {
  write([index, reason](State& state) {
    state.set_aside.emplace(index, reason);
    std::erase_if(state.jobs, [&](const auto& job) {
      return job.second.job.index == index &&
             (job.second.job.kind == JobKind::kComparison || job.second.job.kind == JobKind::kSweep);
    });
  });
}

void FakeTransaction::take_back(int index) {
  write([index](State& state) { state.set_aside.erase(index); });
}

void FakeTransaction::begin_job(std::int64_t job) {
  write([job](State& state) {
    if (const auto stored = state.jobs.find(job); stored != state.jobs.end()) stored->second.begun = true;
  });
}

Position FakeTransaction::place() {
  return Position{std::to_string(seen_.outbox.size())};
}

std::vector<std::size_t> FakeTransaction::save(Epoch epoch, const Acknowledged& acknowledged) {
  database_.step(Step::kSave);
  if (database_.state().epoch != epoch) throw Deposed("another process has taken the lead");
  saved_under_ = epoch;
  std::vector<std::size_t> fresh;
  std::set<DocumentPlace> added;
  for (std::size_t i = 0; i < acknowledged.refused.size(); ++i) {
    const DeadLetter& letter = acknowledged.refused[i];
    const DocumentPlace place{letter.index, letter.id, letter.routing};
    if (!seen_.dead_letters.contains(place) && added.insert(place).second) fresh.push_back(i);
  }
  write([acknowledged](State& state) {
    if (acknowledged.position) state.position = std::stoull(acknowledged.position->text);
    for (const JobProgress& progress : acknowledged.jobs) {
      const auto stored = state.jobs.find(progress.job);
      if (stored == state.jobs.end()) continue;
      if (progress.kind == JobKind::kFanOut) {
        auto& documents = stored->second.documents;
        documents.erase(documents.begin(), documents.upper_bound(std::stoll(progress.position)));
      }
      stored->second.begun = true;
      stored->second.job.position = progress.position;
      stored->second.job.done += progress.done_documents;
      if (progress.finished) state.jobs.erase(stored);
    }
    for (const DeadLetter& letter : acknowledged.refused)
      state.dead_letters[{letter.index, letter.id, letter.routing}] = letter;
    for (const AcknowledgedWrite& write : acknowledged.no_longer_refused) {
      std::erase_if(state.dead_letters, [&](const auto& letter) {
        return letter.second.index == write.index && letter.second.id == write.id &&
               letter.second.version <= write.version;
      });
    }
    for (const AcknowledgedWrite& write : acknowledged.gone_routes) {
      const auto route = state.routes.find({write.index, write.id, write.routing});
      if (route != state.routes.end() && route->second <= write.version) state.routes.erase(route);
    }
  });
  return fresh;
}

bool FakeTransaction::may_be_shown(Epoch epoch) {
  if (seen_.epoch != epoch) throw Deposed("another process has taken the lead");
  const std::lock_guard lock(database_.mutex_);
  return database_.durable_ && writes_.empty();
}

void FakeTransaction::commit() {
  database_.step(Step::kCommit);
  {
    const std::lock_guard lock(database_.mutex_);
    if (saved_under_ && database_.state_.epoch != *saved_under_)
      throw Deposed("another process has taken the lead");
    for (const auto& change : writes_) change(database_.state_);
  }
  database_.step(Step::kCommitted);
}

}  // namespace lockstep::fake
