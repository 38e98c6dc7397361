// Who looks on: waits, and what must hold when the load is over.
#include <algorithm>

#include "tests/proof/simulation/memory.h"
#include "tests/proof/simulation/simulation.h"

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;

// With fair weather and everybody alive, all has to be equal after so long: what an earlier leader may have
// on its way comes, and a dead letter is tried again.
constexpr auto kUntilRest = 900s;

// What waits for nothing that may be on its way is done within this.
constexpr auto kUntilFinished = 600s;

// A small change of one index while others are slow, or refused.
constexpr auto kOwnWithin = 8s;
constexpr auto kUntilFair = 10s;

constexpr std::int64_t kMostWork = 5;

constexpr int kCommitsOfMemory = 100;
constexpr std::int64_t kMostGrowth = 2'000'000;

}  // namespace

// The program may have asked before the exchange, and what it sent then is on its way for as long as a
// request may take.
void Simulation::check_exchanged(const fake::Operation& operation) {
  const auto look = network_.first_look(fibers_.process(), "posts");
  if (network_.is_late() || !look || fibers_.now() < *look + 2 * traits_.request_timeout + 5s) return;
  find("another pipeline's index was written",
       "document " + operation.id + ", by process " + std::to_string(fibers_.process()));
}

// As `lockstep wait` does: until the checkpoint has passed what is committed now, and then until nothing is
// due that was due by then, and no job is left that was there.
void Simulation::wait(int waiter) {
  Lot lot = schedule_.lot("waiter" + std::to_string(waiter));
  while (outcome_.finding.empty()) {
    fibers_.sleep(lot.about(500ms));
    if (!is_doubted()) wait_once();
  }
}

void Simulation::wait_once() {
  const std::int64_t commit = commit_;
  const int doubts = doubts_;
  const std::size_t rows = world_.database.snapshot()->outbox.size();
  std::shared_ptr<const fake::State> state;
  const auto look = [&] {
    fibers_.sleep(50ms);
    state = world_.database.snapshot();
    return outcome_.finding.empty() && doubts_ == doubts;
  };
  while (look() && (state->position < rows || !state->set_aside.empty())) {
  }
  const DueNumber newest{state->last_due};
  std::set<JobId> jobs;
  for (const auto& [job, stored] : state->jobs) jobs.insert(job);
  const auto is_left = [&](const auto& job) { return jobs.contains(job.first); };
  while (outcome_.finding.empty() && doubts_ == doubts &&
         (!is_over(state->due, newest) || std::ranges::any_of(state->jobs, is_left)))
    look();
  if (!outcome_.finding.empty() || doubts_ != doubts) return;
  note("a wait for commit " + std::to_string(commit) + " is over");
  if (const std::string text = missing(commit); !text.empty()) find("a wait was over too early", text);
}

bool Simulation::is_over(const std::map<IndexId, fake::StoredDue>& due, DueNumber newest) const {
  return std::ranges::all_of(due, [&](const auto& of_index) {
    return std::ranges::all_of(of_index.second.changes,
                               [&](const auto& each) { return each.number > newest; }) &&
           std::ranges::all_of(of_index.second.pages, [&](const auto& page) {
             return page.second.page.since > newest || page.second.since > steady_now();
           });
  });
}

// Of the posts that no later commit has changed: what a document that has moved away from a change waits for
// is that later commit (tests/proof/model/README.md, "A limit").
std::string Simulation::missing(std::int64_t commit) const {
  const std::shared_ptr<const fake::State> state = world_.database.snapshot();
  const fake::View& posts = state->view(fake::kPosts);
  for (const std::string& id : traits_.posts) {
    const std::int64_t last = histories_.last(fake::kPosts, id);
    if (last == 0 || last > commit || strangers_.contains(id)) continue;
    if (state->dead_letters.contains({fake::kPosts, id, ""})) continue;
    const std::optional<fake::IndexedDocument> found = world_.elasticsearch.get("posts", id);
    const auto row = posts.find(id);
    const std::string expected = row == posts.end() ? "" : row->second.json;
    const std::string is = found && found->json ? *found->json : "";
    if (is != expected)
      return "it was for commit " + std::to_string(commit) + ", and post " + id + " is \"" + is +
             "\", not \"" + expected + "\" of commit " + std::to_string(last);
  }
  return "";
}

// --- a change of a document of its own ---

// What is slow, refused or dead now concerns it, and for a while afterwards.
bool Simulation::is_fair(IndexId id) const {
  return !network_.is_bad_for(index(id).alias) && disturbed_ < steady_now();
}

void Simulation::await_own() {
  if (traits_.is_slow() || traits_.source_fails || traits_.indices_change) return;
  while (true) {
    fibers_.sleep(100ms);
    const SteadyTime now = fibers_.now();
    for (auto& [index, own] : own_) {
      if (!is_fair(index)) own.fair_since = now + traits_.request_timeout + kUntilFair;
      if (!own.is_awaited || now < std::max(own.since, own.fair_since) + kOwnWithin) continue;
      return find("a change of a document of its own came late",
                  "commit " + std::to_string(own.commit) + " of " + this->index(index).alias);
    }
  }
}

void Simulation::own_is_written(IndexId index, std::int64_t commit) {
  Own& own = own_[index];
  if (!own.is_awaited || commit < own.commit) return;
  own.is_awaited = false;
  if (traits_.is_slow() || traits_.source_fails || traits_.indices_change) return;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      fibers_.now() - std::max(own.since, own.fair_since));
  outcome_.slowest_own = std::max(outcome_.slowest_own, took);
}

// --- the end ---

void Simulation::settle() {
  if (!outcome_.finding.empty()) return;
  world_.elasticsearch.refuse("");
  if (!come_to_rest()) return;
  check_work();
  if (traits_.measures_memory) check_memory();
}

// What waits for nothing is done soon; the rest when no request can be late any more.
bool Simulation::come_to_rest() {
  const SteadyTime begin = fibers_.now();
  std::string unrest;
  bool is_finished = false;
  while (fibers_.now() < begin + kUntilRest && outcome_.finding.empty()) {
    fibers_.sleep(500ms);
    unrest = unfinished();
    if (!is_finished) {
      outcome_.slowest_end = std::max(
          outcome_.slowest_end, std::chrono::duration_cast<std::chrono::milliseconds>(fibers_.now() - begin));
      is_finished = unrest.empty();
      if (!is_finished && fibers_.now() > begin + kUntilFinished) break;
    }
    if (unrest.empty()) unrest = this->unrest();
    if (!unrest.empty()) continue;
    // What was refused before may become a dead letter only now: its leader was stopped.
    if (const auto state = world_.database.snapshot(); !state->dead_letters.empty()) {
      unrest = "there are dead letters: " + state->dead_letters.begin()->second.letter.reason;
      retry_dead_letters();
      continue;
    }
    const std::string differs = world_.difference();
    if (!differs.empty()) find("an index differs from its view at rest", differs);
    return differs.empty();
  }
  find("it does not come to rest", unrest);
  return false;
}

std::string Simulation::unfinished() const {
  const std::shared_ptr<const fake::State> state = world_.database.snapshot();
  if (is_doubted()) return "no leader has looked at both sides again";
  if (state->position != state->outbox.size()) return "the checkpoint has not passed all changes";
  if (!state->jobs.empty()) return "there are jobs";
  if (!state->set_aside.empty()) return "an index is paused: " + state->set_aside.begin()->second;
  const bool is_due = std::ranges::any_of(state->due, [](const auto& due) {
    return !due.second.changes.empty() || std::ranges::any_of(due.second.pages, [](const auto& page) {
      return page.second.since <= steady_now();
    });
  });
  return is_due ? "documents are due" : "";
}

std::string Simulation::unrest() const {
  if (network_.late() > 0) return "a late request is still on its way";
  const std::shared_ptr<const fake::State> state = world_.database.snapshot();
  const bool is_due = std::ranges::any_of(state->due, [](const auto& due) { return !due.second.empty(); });
  return is_due ? "deletions are to be repeated" : "";
}

// A job renders all documents. What a leader has had in hand the next one renders again.
void Simulation::check_work() {
  const auto documents = static_cast<std::int64_t>(traits_.posts.size());
  const std::int64_t jobs = world_.database.snapshot()->next_job.value;
  const std::int64_t leaders = world_.database.snapshot()->epoch.value;
  const std::int64_t due = due_ + (jobs + leaders) * documents;
  const std::int64_t rendered = world_.database.renderings();
  outcome_.most_work = static_cast<double>(rendered) / static_cast<double>(due);
  if (rendered > kMostWork * due)
    find("there was too much work",
         std::to_string(rendered) + " documents were rendered, and " + std::to_string(due) + " were due");
}

// The same work again and again, each time until nothing is left: then as much is held as the time before.
void Simulation::check_memory() {
  std::vector<std::int64_t> held;
  for (int time = 0; time < 4 && outcome_.finding.empty(); ++time) {
    for (int i = 0; i < kCommitsOfMemory; ++i) {
      Event event{"memory", Lot(static_cast<std::uint64_t>(i))};
      write_once(event);
      fibers_.sleep(20ms);
    }
    if (!come_to_rest()) return;
    const auto kept = world_.database.snapshot();
    world_.database.commit([](fake::Change&) {});  // the state belongs to the world from now on
    held.push_back(bytes_of(1) + bytes_of(2));
  }
  if (held.size() < 4) return;
  outcome_.most_growth = held[3] - held[2];
  if (outcome_.most_growth > kMostGrowth)
    find("memory grows", "by " + std::to_string(outcome_.most_growth) + " bytes with " +
                             std::to_string(kCommitsOfMemory) + " commits");
}

}  // namespace lockstep::simulation
