// Who looks on: waits, and what must hold when the load is over.
#include <algorithm>

#include "replicator/error.h"
#include "tests/proof/simulation/memory.h"
#include "tests/proof/simulation/simulation.h"
#include "tests/support/fake_watch.h"

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;

// With fair weather and every process alive, all is equal so long after the last job and the last reindex:
// what an earlier leader may have on its way comes, and a dead letter is tried again.
constexpr auto kUntilRest = 900s;

// What waits for nothing that may be on its way is done within this.
constexpr auto kUntilFinished = 600s;

// A reindex that has begun ends within this, with the longest steps of the source.
constexpr auto kUntilReindexed = 1'800s;

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

// As `lockstep wait --refresh` does, by the program's own code.
void Simulation::wait(int number) {
  Lot lot = schedule_.lot("waiter" + std::to_string(number));
  const BulkWriter::TransportFactory transports = network_.transports();
  Waiter waiter([this] { return std::make_unique<fake::FakeAppliedWatch>(world_.database); }, transports,
                {world_.pipeline.name, {"posts", "files"}}, world_.config.elasticsearch.request_timeout,
                {[] { return std::string(); }, [] { return std::string(); }});
  while (outcome_.finding.empty()) {
    fibers_.sleep(lot.about(load_is_over_ ? 5s : 500ms));
    if (is_doubted() || is_away_) continue;
    const std::int64_t commit = commit_;
    const int doubts = doubts_;
    try {
      waiter.wait({.refresh = WaitRequest::Refresh::kYes}, [](const std::string&) {}, {});
    } catch (const Error& error) {
      note(std::string("a wait fails: ") + error.what());
      continue;
    }
    if (doubts_ != doubts) continue;
    note("a wait for commit " + std::to_string(commit) + " is over");
    const auto swaps = [](const auto& each) { return each.second.reindex.state == ReindexState::kSwapping; };
    if (std::ranges::any_of(world_.database.snapshot()->reindexes, swaps))
      network_.happens(Moment::kPromised, 0);
    histories_.promise(commit);
    search_once();
  }
}

// As `lockstep verify` does, by the program's own code.
void Simulation::verify() {
  Lot lot = schedule_.lot("verifier");
  while (!load_is_over_ && outcome_.finding.empty()) {
    fibers_.sleep(lot.about(8s));
    if (!load_is_over_ && !is_doubted() && !is_away_) verify_once();
  }
}

// Whether it was possible, and all is equal.
bool Simulation::verify_once() {
  const int doubts = doubts_;
  try {
    note("a verification begins");
    fake::FakeSource source(world_.database);
    ElasticsearchClient client(network_.transports()(), traits_.request_timeout);
    std::optional<Verification> verification;
    const auto judge = [&](const AppliedIndex& index, const DifferingDocument& reported) {
      if (doubts_ == doubts && verification->led())
        judge_reported(index, reported);  // else it has not waited
    };
    verification.emplace(world_.config, source, client,
                         Verification::Listener{[](const VerifyProgress&) {}, judge},
                         Verification::Repair::kNo);
    bool is_equal = true;
    const AppliedPipeline pipeline = static_cast<Source&>(source).pipeline();
    for (const AppliedIndex& each : pipeline.indices) {
      if (each.beside) continue;
      VerifiedIndex verified = verification->compare(each);
      verified.unproven.clear();  // an `apply` that was killed has left its mark
      is_equal &= verified.equal(ArrayOrder::kCounts);
    }
    note(std::string("a verification is over: ") + (is_equal ? "all is equal" : "there are differences"));
    return is_equal;
  } catch (const Error& error) {
    note(std::string("a verification fails: ") + error.what());
    return false;
  }
}

// What is neither refused nor written by something else is as the view gives it, or will be.
void Simulation::judge_reported(const AppliedIndex& index, const DifferingDocument& reported) {
  const std::string& id = reported.document.id.text;
  const Generation in = generation(index.target());
  if (histories_.was_refused(documents_in(index.target()), id) || strangers_.contains({in, id})) return;
  find("verify reports a difference that nothing explains",
       std::string(to_string(reported.difference)) + ", " + id + " under \"" + reported.document.routing +
           "\" in " + index.target());
}

void Simulation::search() {
  Lot lot = schedule_.lot("searcher");
  while (outcome_.finding.empty()) {
    fibers_.sleep(lot.about(100ms));
    search_once();
  }
}

void Simulation::search_once() {
  try {
    const bool is_removed = traits_.indices_change && !world_.elasticsearch.has("posts");
    if (!exchanged_ && !is_removed) search_once(fake::kPosts, "posts");
    search_once(fake::kFiles, "files");
  } catch (const Finding& finding) {
    if (outcome_.finding.empty()) outcome_.finding = finding.what();
  }
}

// Of a file every copy. It may be under two routings for a moment, or under none.
void Simulation::search_once(IndexId index, const std::string& alias) {
  const std::optional<fake::Elasticsearch::Documents> documents = world_.elasticsearch.search(alias);
  if (!documents) throw Finding("searches find no index", alias);
  if (is_moved(alias)) return;
  std::map<std::string, std::int64_t> found;
  for (const auto& [place, json] : *documents) {
    const std::int64_t commit = commit_of(json);
    const auto [known, is_first] = found.try_emplace(place.first, commit);
    if (!is_first) known->second = std::min(known->second, commit);
  }
  const Generation in = generation(alias);
  for (const std::string& id : histories_.documents(index)) {
    const auto stranger = strangers_.find({in, id});
    if (stranger != strangers_.end() &&
        (!stranger->second || fibers_.now() - *stranger->second <= kRefreshes))
      continue;
    const auto commit = found.find(id);
    if (commit != found.end())
      histories_.found(index, id, commit->second);
    else if (index == fake::kPosts)
      histories_.found(index, id, std::nullopt);
  }
}

// --- a change of a document of its own ---

// What is slow, refused or dead now concerns it, and for a while afterwards.
bool Simulation::is_fair(IndexId id) const {
  return !network_.is_bad_for(index(id).alias) && disturbed_ < steady_now();
}

void Simulation::await_own() {
  if (traits_.is_slow() || traits_.source_fails || traits_.indices_change || traits_.moves_aliases) return;
  while (true) {
    fibers_.sleep(100ms);
    const SteadyTime now = fibers_.now();
    for (auto& [index, own] : own_) {
      if (!is_fair(index)) own.fair_since = now + traits_.request_timeout + kUntilFair;
      if (!own.is_awaited) continue;
      const auto took =
          std::chrono::duration_cast<std::chrono::milliseconds>(now - std::max(own.since, own.fair_since));
      own.is_awaited = !own_is_written(index, own.commit);
      if (!own.is_awaited) {
        outcome_.slowest_own = std::max(outcome_.slowest_own, took);
      } else if (took >= kOwnWithin) {
        return find("a change of a document of its own came late",
                    "commit " + std::to_string(own.commit) + " of " + this->index(index).alias);
      }
    }
  }
}

bool Simulation::own_is_written(IndexId index, std::int64_t commit) const {
  const std::string routing = this->index(index).routed ? kOwnDocument : "";
  const auto document = world_.elasticsearch.get(this->index(index).alias, kOwnDocument, routing);
  return document && document->json && commit_of(*document->json) >= commit;
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
  SteadyTime reindexed = begin;
  std::string unrest;
  bool is_finished = false;
  while (fibers_.now() < reindexed + kUntilRest && outcome_.finding.empty()) {
    fibers_.sleep(500ms);
    const auto state = world_.database.snapshot();
    if (!state->reindexes.empty() && fibers_.now() < begin + kUntilReindexed) reindexed = fibers_.now();
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
    if (!state->dead_letters.empty()) {
      unrest = "there are dead letters: " + state->dead_letters.begin()->second.letter.reason;
      retry_dead_letters();
      continue;
    }
    unrest = reindexer_.finish();
    if (unrest.empty()) fibers_.sleep(2 * kRefreshes);
    const std::string differs = unrest.empty() ? difference() : world_.difference();
    if (!differs.empty()) find("an index differs from its view at rest", differs);
    if (differs.empty() && unrest.empty() && !verify_once())
      find("verify reports a difference, or fails, at rest", "");
    if (unrest.empty()) return differs.empty();
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

std::string Simulation::difference() const {
  std::string differs = world_.difference();
  for (const std::string alias : {"posts", "files"}) {
    const auto found = world_.elasticsearch.search(alias);
    if (!found || *found != world_.elasticsearch.documents(alias))
      differs += alias + ": not all of it is searchable\n";
  }
  for (const std::string& index : world_.elasticsearch.indices()) {
    if (index.find("-check-") != index.npos) continue;  // of an `apply` that was killed
    if (std::ranges::none_of(world_.database.pipeline().indices, [&](const AppliedIndex& each) {
          return world_.elasticsearch.index_of(each.target()) == index;
        }))
      differs += index + " is of no generation\n";
  }
  return differs;
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
