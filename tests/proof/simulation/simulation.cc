#include "tests/proof/simulation/simulation.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "replicator/service/leadership_loop.h"
#include "tests/support/fake_watch.h"

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::size_t kLinesKept = 300;
constexpr int kProcesses = 2;
constexpr int kWriters = 2;
constexpr int kWaiters = 2;
constexpr int kCommands = kProcesses + 1;  // the process of commands

// With fair weather and everybody alive, all has to be equal after so long: what an earlier leader may have
// on its way comes, and a dead letter is tried again.
constexpr auto kUntilRest = 1200s;

constexpr auto kGcDeletes = 60s;
constexpr auto kRefreshes = 1s;

// One run in so many is a long one, in which what takes long takes longer than Elasticsearch remembers
// deletions.
constexpr int kLongRuns = 5;
constexpr int kLongPace = 10;
constexpr std::uint32_t kSlowSteps = 300;  // of transactions: one is slow

// The user whose posts Elasticsearch refuses, until the load is over.
constexpr const char* kBad = "bad";

void add(std::uint64_t& hash, const std::string& text) {  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
}

/// Lines of the program's log.
class Listener final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit Listener(std::function<void(const std::string&)> hear) : hear_(std::move(hear)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    hear_({line.payload.data(), line.payload.size()});
  }
  void flush_() override {}

  const std::function<void(const std::string&)> hear_;
};

std::int64_t commit_of(const std::string& json) {
  return nlohmann::json::parse(json).at("n").get<std::int64_t>();
}

}  // namespace

// --- the run ---

Simulation::Simulation(const Options& options)
    : options_(options),
      pace_(options.seed % kLongRuns == 0 ? kLongPace : 1),
      fibers_(options.seed),
      network_(fibers_, world_.elasticsearch, [this](const std::string& event) { note(event); }),
      reindexer_({fibers_, world_, network_, kCommands, [this](const std::string& event) { note(event); }}) {
  Scheduler::set(&fibers_);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "simulation", std::make_shared<Listener>([this](const std::string& line) {
        tell("process " + std::to_string(fibers_.process()) + ": " + line);
      })));
  Config& config = world_.config;
  config.elasticsearch.request_timeout = 5s;
  config.elasticsearch.bulk_bytes = 1'000 + below(4'000);
  config.elasticsearch.bulks_in_flight = 1 + static_cast<int>(below(4));
  config.replication.fan_out_threshold = 5 + below(20);
  config.replication.chunk_documents = 5 + below(30);
  config.replication.max_refused_share = 1;
  world_.database.read_pages_beside();
  world_.elasticsearch.refuse(std::string("\"") + kBad + "\"");
  world_.elasticsearch.listen(
      [this](const fake::Operation& operation, const std::string& json) { watch(operation, json); });
  world_.database.at_step([this](fake::Step step) {
    const bool is_slow = pace_ > 1 && below(kSlowSteps) == 0;  // a lock, say
    fibers_.sleep(about(is_slow ? microseconds(60s) : 300us));
    if (step == fake::Step::kCommitted) durable_ = commit_;
  });
}

Simulation::~Simulation() {
  for (int number = 1; number <= kCommands; ++number) fibers_.kill(number);
  fibers_.kill(0);
  spdlog::set_default_logger(nullptr);
  Scheduler::set(nullptr);
}

Outcome Simulation::run() {
  const SteadyTime begin = fibers_.now();
  outcome_.hash = 14'695'981'039'346'656'037ULL;
  try {
    fibers_.run(fibers_.start(0, [this] { run_all(); }));
  } catch (const std::exception& error) {
    outcome_.finding = error.what();
  }
  if (!outcome_.finding.empty()) note("FOUND: " + outcome_.finding);
  outcome_.simulated = duration_cast<milliseconds>(fibers_.now() - begin);
  outcome_.commits = commit_;
  return outcome_;
}

void Simulation::note(const std::string& event) {
  add(outcome_.hash, std::to_string(fibers_.now().time_since_epoch().count()) + event);
  tell(event);
}

// What the program logs is no event: it leaves out what it has logged before, in other runs perhaps.
void Simulation::tell(const std::string& event) {
  char time[32];
  std::snprintf(time, sizeof time, "%10.6f ",
                std::chrono::duration<double>(fibers_.now().time_since_epoch() - 1h).count());
  const std::string line = time + event;
  if (options_.tells_all) std::printf("%s\n", line.c_str());
  outcome_.log.push_back(line);
  if (outcome_.log.size() > kLinesKept) outcome_.log.pop_front();
}

// An exception would cross fibers: the finding is kept, and ends the run.
void Simulation::watch(const fake::Operation& operation, const std::string& json) {
  note(operation.alias + ": " + (operation.is_delete ? "delete " : "index ") + operation.id +
       (operation.routing.empty() ? "" : " under " + operation.routing) + " version " +
       std::to_string(operation.version) + " → " + std::to_string(operation.status) +
       (operation.is_delete ? "" : " " + json));
  if (operation.status >= 300) return;
  const IndexId index = operation.index.starts_with("posts") ? fake::kPosts : fake::kFiles;
  const auto stranger = strangers_.find({operation.uuid, operation.id});
  const bool is_strangers = stranger != strangers_.end() && !stranger->second;
  if (is_strangers) stranger->second = fibers_.now();
  try {
    if (operation.is_delete) {
      if (index == fake::kPosts && !is_strangers)
        histories_.gone(index, operation.uuid, operation.id);  // a file may have been under another routing
      return;
    }
    const std::int64_t commit = commit_of(json);
    if (world_.database.is_durable()) durable_ = commit_;
    if (commit > durable_)
      throw Finding("Elasticsearch has what a crash of the source would take back",
                    "commit " + std::to_string(commit));
    if (network_.is_late() && (operation.is_new || is_strangers)) {
      note("document " + operation.id + " is back");
      strangers_[{operation.uuid, operation.id}] = std::nullopt;
    } else {
      histories_.shown(index, operation.uuid, operation.id, commit);
    }
  } catch (const Finding& finding) {
    if (outcome_.finding.empty()) outcome_.finding = finding.what();
  }
}

void Simulation::run_all() {
  for (int number = 1; number <= kProcesses; ++number) begin_process(number);
  std::vector<std::uint64_t> load;
  for (int i = 0; i < kWriters; ++i) load.push_back(fibers_.start(0, [this] { write(); }));
  load.push_back(fibers_.start(0, [this] { change_weather(); }));
  load.push_back(fibers_.start(0, [this] { disturb_processes(); }));
  load.push_back(fibers_.start(0, [this] { operate(); }));
  load.push_back(fibers_.start(0, [this] { reindex(); }));
  for (int i = 0; i < kWaiters; ++i) fibers_.start(0, [this] { wait(); });
  fibers_.start(0, [this] { search(); });
  fibers_.start(0, [this] { forget_deletes(); });
  const SteadyTime end = fibers_.now() + options_.load * pace_;
  while (fibers_.now() < end && outcome_.finding.empty()) fibers_.sleep(100ms);
  load_is_over_ = true;
  for (const std::uint64_t fiber : load) fibers_.join(fiber);
  network_.change(Weather::kCalm, "");
  note("the weather is calm, and nobody changes anything any more");
  if (outcome_.finding.empty()) settle();
}

microseconds Simulation::about(microseconds mean) {
  return microseconds(fibers_.random() % static_cast<std::uint32_t>(2 * mean.count()));
}

// --- processes of the program ---

void Simulation::begin_process(int number) {
  processes_[number].board = std::make_unique<ProgressBoard>();
  fibers_.start(number, [this, number] { run_process(number); });
}

void Simulation::run_process(int number) {
  Process& process = processes_.at(number);
  const SystemClock clock;
  const BulkWriter::TransportFactory transports = network_.transports();
  std::optional<QuietEnd> last_end;
  LeadershipLoop loop({.open_source =
                           [&] {
                             auto source = std::make_unique<fake::FakeSource>(world_.database);
                             process.source = source.get();
                             return source;
                           },
                       .replicate =
                           [&](Source& source, const std::stop_token& stop) {
                             Leader({world_.config, source, transports, *process.board, clock, &last_end})
                                 .run(RunUntil::kStopped, stop);
                           },
                       .on_refusal = LeadershipLoop::Parts::OnRefusal::kKeepTrying},
                      *process.board, clock);
  try {
    loop.run({});
  } catch (const std::exception& error) {
    if (outcome_.finding.empty())
      outcome_.finding = "process " + std::to_string(number) + " has ended: " + error.what();
  }
}

void Simulation::disturb_processes() {
  while (!load_is_over_) {
    sleep(6s);
    if (load_is_over_) return;
    const int number = 1 + static_cast<int>(below(kProcesses));
    below(3) == 0 ? stop(number) : kill(number);
  }
}

void Simulation::kill(int number) {
  note("process " + std::to_string(number) + " is killed");
  ++outcome_.deaths;
  fibers_.kill(number);
  world_.database.cut(processes_.at(number).source);
  static_cast<void>(processes_.at(number).board.release());  // its threads had it
  fibers_.sleep(about(500ms));
  begin_process(number);
}

void Simulation::stop(int number) {
  const auto time = about(below(4) == 0 ? 60s : 2s);
  note("process " + std::to_string(number) + " is stopped for " +
       std::to_string(duration_cast<milliseconds>(time).count()) + " ms");
  fibers_.stop(number, fibers_.now() + time);
  if (below(2) == 0) world_.database.cut(processes_.at(number).source);  // the server does not wait for it
}

// --- the world ---

std::string Simulation::user() {
  constexpr const char* kUsers[] = {"ann", "bob", "eve"};
  return kUsers[below(3)];
}

void Simulation::write() {
  while (!load_is_over_) {
    sleep(below(10) == 0 ? 2s : 60ms);
    if (!load_is_over_) write_once();
  }
}

void Simulation::write_once() {
  const std::int64_t commit = ++commit_;
  const int n = static_cast<int>(commit);
  const std::string id = post();
  const std::string of_file = file();
  switch (below(14)) {
    case 0:
      note("commit " + std::to_string(commit) + " deletes post " + id);
      histories_.note(fake::kPosts, id, commit, false);
      world_.remove_post(id);
      break;
    case 1: {
      const std::string name = user();
      note("commit " + std::to_string(commit) + " renames " + name);
      for (const auto& [each, row] : world_.database.snapshot()->view(fake::kPosts)) {
        if (row.json.starts_with(R"({"user":")" + name + "\""))
          histories_.note(fake::kPosts, each, commit, true);
      }
      world_.rename_user(name, n);
      break;
    }
    case 2:
      note("commit " + std::to_string(commit) + " deletes file " + of_file);
      histories_.note(fake::kFiles, of_file, commit, false);
      world_.remove_file(of_file);
      break;
    case 3:
    case 4: {
      const std::string routing = "r" + std::to_string(below(3));
      note("commit " + std::to_string(commit) + " puts file " + of_file + " under " + routing);
      histories_.note(fake::kFiles, of_file, commit, true);
      world_.put_file(of_file, routing, n);
      break;
    }
    case 5: {
      note("commit " + std::to_string(commit) + " puts all posts");
      world_.database.commit([&](fake::Change& change) {
        for (int i = 0; i < kPostIds; ++i) {
          const std::string each = "p" + std::to_string(i);
          change.put(fake::kPosts, each, R"({"user":"ann","n":)" + std::to_string(n) + "}");
          change.captured(fake::kPostRows, {each});
          histories_.note(fake::kPosts, each, commit, true);
        }
      });
      break;
    }
    case 6: {
      if (below(4) != 0) break;
      note("commit " + std::to_string(commit) + " empties the table of posts");
      world_.database.commit([&](fake::Change& change) {
        const fake::View posts = change.view(fake::kPosts);
        for (const auto& [each, row] : posts) {
          histories_.note(fake::kPosts, each, commit, false);
          change.remove(fake::kPosts, each);
        }
        change.truncated(fake::kPostRows);
      });
      break;
    }
    case 7:
      if (below(3) != 0) break;
      note("commit " + std::to_string(commit) + " puts post " + id + ", which Elasticsearch refuses");
      histories_.note(fake::kPosts, id, commit, true);
      histories_.note_refused(commit);
      world_.put_post(id, kBad, n);
      break;
    default:
      note("commit " + std::to_string(commit) + " puts post " + id);
      histories_.note(fake::kPosts, id, commit, true);
      world_.put_post(id, user(), n);
  }
}

void Simulation::change_weather() {
  while (!load_is_over_) {
    sleep(4s);
    const auto weather = below(3) == 0 ? Weather::kCalm : static_cast<Weather>(below(kWeathers));
    const std::vector<AppliedIndex> indices = world_.database.pipeline().indices;
    const std::string index = indices[below(static_cast<std::uint32_t>(indices.size()))].target();
    note(std::string("weather: ") + name_of(weather) + " (" + index + ")");
    network_.change(weather, index);
  }
}

void Simulation::forget_deletes() {
  while (true) {
    fibers_.sleep(kRefreshes);
    world_.elasticsearch.refresh_by_itself();
    world_.elasticsearch.forget_deletes(fibers_.now() - kGcDeletes);
  }
}

// As `lockstep wait --refresh` does, by the program's own code.
void Simulation::wait() {
  const BulkWriter::TransportFactory transports = network_.transports();
  Waiter waiter([this] { return std::make_unique<fake::FakeAppliedWatch>(world_.database); }, transports,
                {"posts", "files"}, world_.config.elasticsearch.request_timeout,
                {[] { return std::string(); }, [] { return std::string(); }});
  while (outcome_.finding.empty()) {
    fibers_.sleep(about(load_is_over_ ? 5s : 500ms));
    const std::int64_t commit = commit_;
    waiter.wait({.refresh = WaitRequest::Refresh::kYes}, [](const std::string&) {}, {});
    note("a wait for commit " + std::to_string(commit) + " is over");
    histories_.promise(commit);
    search_once();
  }
}

void Simulation::search() {
  while (outcome_.finding.empty()) {
    fibers_.sleep(about(100ms));
    search_once();
  }
}

void Simulation::search_once() {
  try {
    search_once(fake::kPosts, "posts");
    search_once(fake::kFiles, "files");
  } catch (const Finding& finding) {
    if (outcome_.finding.empty()) outcome_.finding = finding.what();
  }
}

// Of a file every copy. It may be under two routings for a moment, or under none.
void Simulation::search_once(IndexId index, const std::string& alias) {
  const std::optional<fake::Elasticsearch::Documents> documents = world_.elasticsearch.search(alias);
  if (!documents) throw Finding("searches find no index", alias);
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

Generation Simulation::generation(const std::string& alias) const {
  return world_.elasticsearch.uuid_of(alias);
}

// As `lockstep verify --repair` does, for documents that something else has changed, and for others; and as
// `lockstep dead-letters retry` does.
void Simulation::operate() {
  while (!load_is_over_) {
    sleep(2s);
    if (load_is_over_) return;
    if (below(4) == 0) {
      retry_dead_letters();
      continue;
    }
    std::vector<std::string> ids;
    for (std::uint32_t left = 1 + below(8); left > 0; --left) ids.push_back(post());
    if (below(2) == 0) {
      note("something else writes post " + ids.front());
      strangers_[{generation("posts"), ids.front()}] = std::nullopt;
      world_.elasticsearch.damage("posts", ids.front(), R"({"user":"stranger","n":0})");
    }
    repair(ids);
  }
}

void Simulation::reindex() {
  while (options_.reindexes && !load_is_over_) {
    sleep(3s);
    if (!load_is_over_) reindexer_.give_one();
  }
}

// Of both generations, where there are two.
void Simulation::repair(const std::vector<std::string>& ids) {
  std::string text;
  std::vector<FoundDocument> documents;
  for (const std::string& each : ids) {
    documents.push_back({DocumentId{each}, ""});
    text += " " + each;
  }
  note("a repair of" + text);
  try {
    fake::FakeSource source(world_.database);
    const std::unique_ptr<SourceTransaction> transaction =
        static_cast<Source&>(source).changes().begin_repair();
    for (const AppliedIndex& index : source.pipeline().indices) {
      if (index.view == world_.posts().view)
        transaction->add_repair(index, documents, {.reason = "verify --repair"});
    }
    transaction->commit();
  } catch (const Error& error) {
    note(std::string("the repair fails: ") + error.what());
  }
}

void Simulation::retry_dead_letters() {
  std::vector<std::string> ids;
  for (const auto& [key, letter] : world_.database.snapshot()->dead_letters) ids.push_back(std::get<1>(key));
  if (!ids.empty()) repair(ids);
}

// --- the end ---

void Simulation::settle() {
  world_.elasticsearch.refuse("");
  const SteadyTime end = fibers_.now() + kUntilRest;
  std::string unrest;
  while (fibers_.now() < end && outcome_.finding.empty()) {
    fibers_.sleep(500ms);
    unrest = this->unrest();
    if (!unrest.empty()) continue;
    // What was refused before may become a dead letter only now: its leader was stopped.
    if (const auto state = world_.database.snapshot(); !state->dead_letters.empty()) {
      unrest = "there are dead letters: " + state->dead_letters.begin()->second.letter.reason;
      retry_dead_letters();
      continue;
    }
    unrest = reindexer_.finish();
    if (!unrest.empty()) {
      const std::string differs = world_.difference();
      if (!differs.empty()) outcome_.finding = "two generations at rest: " + differs;
      continue;
    }
    fibers_.sleep(2 * kRefreshes);
    if (const std::string differs = difference(); !differs.empty())
      outcome_.finding = "nothing is left to do: " + differs;
    return;
  }
  if (outcome_.finding.empty()) outcome_.finding = "it does not come to rest: " + unrest;
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
      differs += index + " is nobody's\n";
  }
  return differs;
}

std::string Simulation::unrest() const {
  const std::shared_ptr<const fake::State> state = world_.database.snapshot();
  if (network_.late() > 0) return "a late request is still on its way";
  if (state->position != state->outbox.size()) return "the checkpoint has not passed all changes";
  if (!state->jobs.empty()) return "there are jobs";
  if (!state->set_aside.empty()) return "an index is paused: " + state->set_aside.begin()->second;
  const bool is_due = std::ranges::any_of(state->due, [](const auto& due) { return !due.second.empty(); });
  return is_due ? "documents are due" : "";
}

}  // namespace lockstep::simulation
