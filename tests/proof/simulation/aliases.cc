// An operator who moves an alias by hand while it has two generations, and moves it back later.
#include <algorithm>
#include <map>
#include <utility>

#include "tests/proof/simulation/simulation.h"

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;

// For a step of a reindex.
constexpr auto kAwaited = 10s;

// Until the program has seen that an index which it writes by the searchers' alias is elsewhere.
constexpr auto kUntilSeen = 120s;

// An index that is no generation.
std::string third_index(const std::string& alias) {
  return alias + "_by_hand";
}

}  // namespace

void Simulation::move_aliases() {
  each_event("hand", 2s, [this](Event& event) { move_alias(event); });
}

// Comes into a state in which it has two indices; none: none does for a while. One that is being dropped has
// them, too.
std::optional<Reindex> Simulation::await_step() {
  const auto states = [this] {
    std::map<ReindexId, Reindex> all;
    for (const auto& [id, stored] : world_.database.snapshot()->reindexes) all[id] = stored.reindex;
    return all;
  };
  std::map<ReindexId, Reindex> before = states();
  const SteadyTime until = fibers_.now() + kAwaited;
  while (fibers_.now() < until && !load_is_over_) {
    fibers_.sleep(10ms);
    std::map<ReindexId, Reindex> now = states();
    for (const auto& [id, reindex] : now) {
      const auto known = before.find(id);
      if (known != before.end() && known->second.state != reindex.state && has_two(reindex)) return reindex;
    }
    before = std::move(now);
  }
  return std::nullopt;
}

bool Simulation::has_two(const Reindex& reindex) const {
  return !reindex.live_name.empty() && world_.elasticsearch.has(reindex.live_name) &&
         world_.elasticsearch.has(reindex.beside_name);
}

// What is followed by both names.
bool Simulation::is_followed(const std::string& alias) const {
  return std::ranges::any_of(world_.database.snapshot()->reindexes, [&](const auto& each) {
    return each.second.reindex.alias == alias && each.second.reindex.beside;
  });
}

// Just when the state has changed: what is dropped may be on its way later, and who deletes an index cannot
// ask Elasticsearch to look at its alias first.
void Simulation::move_alias(Event& event) {
  const bool is_third = event.lot.one_in(3);
  const std::optional<Reindex> reindex = await_step();
  if (!reindex) return;
  const std::string alias = reindex->alias;
  const std::string to = is_third ? third_index(alias) : reindex->beside_name;
  begins(event, "somebody moves the alias " + alias + " to " + to);
  moved_ = alias;
  ++doubts_;
  world_.elasticsearch.move_alias(alias, to);
  const int forced = reindexer_.forced();
  bool is_written_by_alias = false;
  const auto is_away = [&] { return world_.elasticsearch.index_of(alias) != live_index(alias, *reindex); };
  const SteadyTime end = fibers_.now() + event.lot.about(8s);
  const SteadyTime latest = end + kUntilSeen;
  while (fibers_.now() < end || (is_written_by_alias && is_away() && fibers_.now() < latest &&
                                 !is_noticed(alias, live_index(alias, *reindex)))) {
    fibers_.sleep(100ms);
    if (!outcome_.finding.empty()) return;
    is_written_by_alias |= is_away() && !is_followed(alias);
    const bool may_be_taken = reindex->is_forced || reindexer_.forced() != forced;
    if (is_third && !may_be_taken && world_.elasticsearch.index_of(alias) != to)
      return find("an alias was taken from where an operator had moved it", alias + " from " + to);
  }
  if (is_away()) {
    world_.elasticsearch.move_alias(alias, live_index(alias, *reindex));
    if (is_written_by_alias) doubt();
  }
  if (is_third) world_.elasticsearch.remove(to);
  note("the alias " + alias + " is at " + world_.elasticsearch.index_of(alias) + " again");
  fibers_.sleep(2 * kRefreshes);
  moved_.clear();
  ++doubts_;
}

// Where the alias belongs now.
std::string Simulation::live_index(const std::string& alias, const Reindex& known) const {
  for (const auto& [id, stored] : world_.database.snapshot()->reindexes) {
    const Reindex& reindex = stored.reindex;
    if (reindex.alias != alias || reindex.live_name.empty()) continue;
    const bool has_moved = reindex.state == ReindexState::kSwapping &&
                           world_.elasticsearch.index_of(alias) == reindex.beside_name;
    return has_moved ? reindex.beside_name : reindex.live_name;
  }
  return world_.elasticsearch.has(known.live_name) ? known.live_name : known.beside_name;
}

// By the leader, of an index with one generation.
bool Simulation::is_noticed(const std::string& alias, const std::string& live) const {
  const std::shared_ptr<const fake::State> state = world_.database.snapshot();
  const auto index = std::ranges::find(state->pipeline.indices, alias, &AppliedIndex::alias);
  if (index == state->pipeline.indices.end() || index->written_by) return true;
  const auto target = state->partners.targets.find(index->id);
  return target != state->partners.targets.end() &&
         target->second != live + " " + std::to_string(world_.elasticsearch.uuid_of(live));
}

}  // namespace lockstep::simulation
