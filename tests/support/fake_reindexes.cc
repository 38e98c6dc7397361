#include "tests/support/fake_reindexes.h"

#include <algorithm>
#include <stdexcept>

#include "replicator/error.h"

namespace lockstep::fake {
namespace {

using enum ReindexState;

AppliedIndex* find_index(State& state, std::optional<IndexId> id) {
  const auto found = std::ranges::find_if(
      state.pipeline.indices, [&](const AppliedIndex& index) { return std::optional(index.id) == id; });
  return found == state.pipeline.indices.end() ? nullptr : &*found;
}

void add_first_job(State& state, const Reindex& reindex, JobKind kind,
                   std::optional<std::int64_t> total = {}) {
  StoredJob stored;
  stored.job.index = reindex.beside.value();
  stored.job.kind = kind;
  stored.job.reason = "reindex of " + reindex.alias;
  stored.job.total = total;
  insert(state, std::move(stored));
}

void fill(State& state, Reindex& reindex, const NewGeneration& generation) {
  AppliedIndex& live = *find_index(state, reindex.live);
  live.written_by = generation.live.written_by;
  AppliedIndex beside = live;
  beside.id = {++state.last_index.value};
  beside.alias = generation.beside.index;
  beside.written_by = generation.beside.written_by;
  state.same_view[beside.id] = state.view_of(live.id);
  reindex.beside = beside.id;
  reindex.live_name = generation.live.index;
  reindex.beside_name = generation.beside.index;
  state.pipeline.indices.push_back(std::move(beside));
  add_first_job(state, reindex, JobKind::kBackfill, generation.documents);
}

void exchange(State& state, StoredReindex& stored) {
  Reindex& reindex = stored.reindex;
  find_index(state, reindex.live)->alias = reindex.live_name;
  find_index(state, reindex.beside)->alias = reindex.alias;
  std::swap(reindex.live, reindex.beside);
  std::swap(reindex.live_name, reindex.beside_name);
  if (reindex.wish == ReindexWish::kAbort) reindex.wish = ReindexWish::kNone;
  reindex.is_forced = false;
  stored.kept_until = steady_now() + stored.keep;
}

void drop(State& state, Reindex& reindex, const std::string& failure) {
  if (reindex.beside) forget_index(state, *reindex.beside);
  reindex.beside.reset();
  if (AppliedIndex* const live = find_index(state, reindex.live)) live->written_by.reset();
  reindex.wish = ReindexWish::kNone;
  reindex.is_forced = false;
  reindex.failure = failure;
}

void take_step(State& state, ReindexId id, const ReindexStep& step) {
  if (!step.to) {
    state.reindexes.erase(id);
    return;
  }
  StoredReindex& stored = state.reindexes.at(id);
  Reindex& reindex = stored.reindex;
  switch (*step.to) {
    case kFilling:
      fill(state, reindex, step.generation);
      break;
    case kComparing:
      add_first_job(state, reindex, JobKind::kComparison);
      break;
    case kSwapping:
      reindex.wish = ReindexWish::kNone;
      break;
    case kKept:
      exchange(state, stored);
      break;
    case kDropping:
      drop(state, reindex, step.failure);
      break;
    case kCreating:
    case kFailed:
      break;
  }
  reindex.state = *step.to;
  reindex.reason.clear();
  if (*step.to == kFilling || *step.to == kKept || *step.to == kDropping) note_revision(state);
}

}  // namespace

bool FakeReindexes::commit(const std::function<bool(State&)>& write) {
  if (connection_.open > 0) throw std::logic_error("a transaction is open on this connection");
  database_.require_connected(connection_.start);
  return database_.write(write);
}

bool FakeReindexes::change(ReindexId reindex, const std::function<void(Reindex&)>& write) {
  return commit([&](State& state) {
    const auto stored = state.reindexes.find(reindex);
    if (stored == state.reindexes.end()) return false;
    write(stored->second.reindex);
    return true;
  });
}

std::vector<Reindex> FakeReindexes::all() {
  database_.require_connected(connection_.start);
  std::vector<Reindex> all;
  for (const auto& [id, stored] : database_.snapshot()->reindexes) {
    all.push_back(stored.reindex);
    all.back().was_swapped = stored.kept_until.has_value();
    all.back().keep = stored.kept_for();
  }
  return all;
}

bool FakeReindexes::start(const WantedReindex& wanted) {
  return commit([&](State& state) {
    const auto is_of_alias = [&](const auto& each) { return each.second.reindex.alias == wanted.alias; };
    const auto live = std::ranges::find_if(
        state.pipeline.indices, [&](const AppliedIndex& index) { return index.alias == wanted.alias; });
    if (live == state.pipeline.indices.end()) return false;
    std::erase_if(state.reindexes, [&](const auto& each) {
      return is_of_alias(each) && each.second.reindex.state == kFailed;
    });
    if (std::ranges::any_of(state.reindexes, is_of_alias)) return false;
    StoredReindex stored;
    stored.keep = wanted.keep;
    stored.reindex.id = {++state.last_reindex.value};
    stored.reindex.alias = wanted.alias;
    stored.reindex.mapping = wanted.mapping;
    stored.reindex.live = live->id;
    stored.reindex.max_rate = wanted.max_rate;
    state.reindexes.emplace(stored.reindex.id, std::move(stored));
    return true;
  });
}

bool FakeReindexes::limit(ReindexId reindex, std::optional<std::int64_t> max_rate) {
  return change(reindex, [&](Reindex& stored) { stored.max_rate = max_rate; });
}

bool FakeReindexes::want(ReindexId reindex, ReindexWish wish, Force force) {
  return change(reindex, [&](Reindex& stored) {
    if (wish != ReindexWish::kNone) stored.wish = wish;
    stored.is_forced |= force == Force::kYes;
  });
}

bool FakeReindexes::advance(const Reindex& reindex, Epoch epoch, const ReindexStep& step) {
  return commit([&](State& state) {
    const auto stored = state.reindexes.find(reindex.id);
    if (stored == state.reindexes.end() || stored->second.reindex.state != reindex.state) return false;
    if (state.epoch != epoch) throw Deposed("another process has become leader");
    require_way(reindex.state, step.to);
    take_step(state, reindex.id, step);
    return true;
  });
}

void FakeReindexes::note(ReindexId reindex, const std::string& reason) {
  change(reindex, [&](Reindex& stored) { stored.reason = reason; });
}

std::int64_t FakeReindexes::refused_beside(const Reindex& reindex) {
  database_.require_connected(connection_.start);
  if (!reindex.live || !reindex.beside) return 0;
  const std::shared_ptr<const State> state = database_.snapshot();
  return std::ranges::count_if(state->dead_letters, [&](const auto& stored) {
    const auto& [index, id, routing] = stored.first;
    return index == *reindex.beside && !state->dead_letters.contains({*reindex.live, id, routing});
  });
}

void FakeReindexes::note_pace(IndexId index, JobKind kind, const Pace& pace) {
  commit([&](State& state) {
    if (find_index(state, index) == nullptr) return false;
    state.paces[{index, kind}] = pace;
    return true;
  });
}

std::optional<Pace> FakeReindexes::pace(IndexId index, JobKind kind) {
  database_.require_connected(connection_.start);
  const std::shared_ptr<const State> state = database_.snapshot();
  const auto found = state->paces.find({index, kind});
  return found == state->paces.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace lockstep::fake
