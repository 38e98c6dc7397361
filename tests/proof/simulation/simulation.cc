#include "tests/proof/simulation/simulation.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "replicator/service/leadership_loop.h"

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
constexpr ProcessNumber kCommands = kProcesses + 1;  // the process of commands
constexpr std::uint32_t kSlowSteps = 300;            // of transactions: one is slow

// What is asked to end, and has not, is killed.
constexpr auto kKilledAfter = 20s;

// A process that is asked to end in calm has ended.
constexpr auto kEndsWithin = 5s;

// The next process leads when one has died.
constexpr auto kSucceedsWithin = 3s;

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

bool is_in(const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges, std::int64_t commit) {
  return std::ranges::any_of(
      ranges, [&](const auto& range) { return commit > range.first && commit <= range.second; });
}

}  // namespace

std::int64_t commit_of(const std::string& json) {
  return nlohmann::json::parse(json).at("n").get<std::int64_t>();
}

IndexId documents_in(const std::string& index) {
  return index.starts_with("posts") ? fake::kPosts : fake::kFiles;
}

Simulation::Simulation(const Options& options)
    : options_(options),
      schedule_(options.seed, options.only),
      traits_(draw_traits(schedule_.lot("traits"), options.load)),
      fibers_(schedule_.lot("order" + std::to_string(options.order)), schedule_.lot("program")),
      network_(fibers_, schedule_, world_.elasticsearch, traits_.network,
               [this](const Event& event, const std::string& words) { begins(event, words); }),
      steps_(schedule_.lot("steps")),
      reindexer_({fibers_, world_, network_, kCommands,
                  [this](const Event& event, const std::string& words) { begins(event, words); },
                  [this](const std::string& what) { note(what); }}) {
  Scheduler::set(&fibers_);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "simulation", std::make_shared<Listener>([this](const std::string& line) {
        tell("process " + std::to_string(fibers_.process()) + ": " + line);
      })));
  Config& config = world_.config;
  Lot lot = schedule_.lot("configuration");
  config.elasticsearch.request_timeout = traits_.request_timeout;
  config.elasticsearch.bulk_bytes = 1'000 + lot.below(4'000);
  config.elasticsearch.bulks_in_flight = 1 + static_cast<int>(lot.below(4));
  config.replication.fan_out_threshold = 5 + lot.below(20);
  config.replication.chunk_documents = 5 + lot.below(30);
  config.replication.max_refused_share = 1;
  world_.database.read_pages_beside();
  if (traits_.source_fails) world_.database.remember_durable();
  world_.elasticsearch.refuse(std::string("\"") + kRefusedUser + "\"");
  world_.elasticsearch.listen(
      [this](const fake::Operation& operation, const std::string& json) { watch(operation, json); });
  world_.database.at_step([this](fake::Step step) { take_a_step(step); });
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
  outcome_.unknown = schedule_.unknown();
  return outcome_;
}

void Simulation::note(const std::string& what) {
  add(outcome_.hash, std::to_string(fibers_.now().time_since_epoch().count()) + what);
  tell(what);
}

void Simulation::begins(const Event& event, const std::string& words) {
  note(event.name + ": " + words);
  outcome_.events.push_back({event.name, words});
}

// What the program logs is no event: it leaves out what it has logged before, in other runs perhaps.
void Simulation::tell(const std::string& line) {
  char time[32];
  std::snprintf(time, sizeof time, "%10.6f ",
                std::chrono::duration<double>(fibers_.now().time_since_epoch() - 1h).count());
  outcome_.log.push_back(time + line);
  if (options_.tells_all) std::printf("%s\n", outcome_.log.back().c_str());
  if (outcome_.log.size() > kLinesKept) outcome_.log.pop_front();
}

// An exception would cross fibers: the finding is kept, and ends the run.
void Simulation::find(const std::string& property, const std::string& details) {
  if (outcome_.finding.empty()) outcome_.finding = Finding(property, details).what();
}

void Simulation::watch(const fake::Operation& operation, const std::string& json) {
  note(operation.alias + ": " + (operation.is_delete ? "delete " : "index ") + operation.id +
       (operation.routing.empty() ? "" : " under " + operation.routing) + " version " +
       std::to_string(operation.version) + " → " + std::to_string(operation.status) +
       (operation.is_delete ? "" : " " + json));
  if (operation.status >= 300) return;
  const IndexId index = documents_in(operation.index);
  if (exchanged_ && index == fake::kPosts) return check_exchanged(operation);
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
    if (is_in(lost_, commit))
      throw Finding("Elasticsearch has what the source has lost", "commit " + std::to_string(commit));
    if (is_in(taken_back_, commit) || (network_.is_late() && (operation.is_new || is_strangers))) {
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
  const auto begin = [&](std::function<void()> body) { load.push_back(fibers_.start(0, std::move(body))); };
  for (int i = 1; i <= kWriters; ++i) begin([this, i] { write(i); });
  for (const IndexId index : {fake::kPosts, fake::kFiles}) begin([this, index] { change_own(index); });
  begin([this] { change_weather(); });
  begin([this] { operate(); });
  if (traits_.between_deaths > 0ms) begin([this] { disturb_processes(); });
  if (traits_.source_fails) begin([this] { disturb_source(); });
  if (traits_.indices_change) begin([this] { disturb_indices(); });
  if (traits_.reindexes) begin([this] { reindex(); });
  if (traits_.moves_aliases) begin([this] { move_aliases(); });
  for (int i = 1; i <= kWaiters; ++i) fibers_.start(0, [this, i] { wait(i); });
  fibers_.start(0, [this] { verify(); });
  fibers_.start(0, [this] { search(); });
  fibers_.start(0, [this] { forget_deletes(); });
  fibers_.start(0, [this] { await_own(); });
  const SteadyTime end = fibers_.now() + traits_.load * traits_.pace;
  while (fibers_.now() < end && outcome_.finding.empty()) fibers_.sleep(100ms);
  load_is_over_ = true;
  note("the weather is calm, and nobody changes anything any more");
  network_.change(Weather::kCalm, "");
  for (const std::uint64_t fiber : load) fibers_.join(fiber);
  settle();
}

void Simulation::each_event(const std::string& source, microseconds mean,
                            const std::function<void(Event&)>& happen) {
  while (!load_is_over_) {
    Event event = schedule_.next(source);
    fibers_.sleep(event.lot.about(mean * traits_.pace));
    if (!load_is_over_ && event.happens) happen(event);
  }
}

// --- processes of the program ---

void Simulation::begin_process(int number) {
  processes_[number] = {};
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
    loop.run(process.stop.get_token());
    process.has_ended = true;
    if (!process.stop.stop_requested()) find("a process has ended", std::to_string(number));
  } catch (const std::exception& error) {
    find("a process has ended", std::to_string(number) + ", " + error.what());
  }
}

void Simulation::disturb_processes() {
  each_event("death", traits_.between_deaths, [this](Event& event) { disturb_one(event); });
}

void Simulation::disturb_one(Event& event) {
  int number = 1 + static_cast<int>(event.lot.below(kProcesses));
  if (event.lot.one_in(2)) number = leader_or(number);
  if (traits_.reindexes && event.lot.one_in(4)) {
    network_.await(Moment::kPromised, 0);
  } else {
    network_.await(static_cast<Moment>(event.lot.below(3)), number);
  }
  if (load_is_over_) return;
  if (event.lot.one_in(4)) return end(event, event.lot.one_in(4) ? number : leader_or(number));
  if (event.lot.one_in(6)) return kill_successor(event, leader_or(number));
  if (!event.lot.one_in(3)) return kill(event, number);
  const bool all = event.lot.one_in(8);  // the machine sleeps
  stop(event, all ? std::vector{1, 2} : std::vector{number});
}

int Simulation::leader_or(int number) const {
  const auto leads = [](const auto& process) { return process.second.board->read().leads; };
  const auto leader = std::ranges::find_if(processes_, leads);
  return leader == processes_.end() ? number : leader->first;
}

void Simulation::kill(Event& event, int number) {
  begins(event, "process " + std::to_string(number) + " is killed");
  bury(number);
  fibers_.sleep(event.lot.about(500ms));
  begin_process(number);
}

// And the process that leads next, when it has raised the epoch.
void Simulation::kill_successor(Event& event, int number) {
  const Epoch before = world_.database.snapshot()->epoch;
  begins(event, "process " + std::to_string(number) + " is killed");
  bury(number);
  const SteadyTime end = fibers_.now() + kSucceedsWithin;
  while (world_.database.snapshot()->epoch == before && fibers_.now() < end) fibers_.sleep(200us);
  const int next = kProcesses + 1 - number;
  if (world_.database.snapshot()->epoch != before) {
    if (event.lot.one_in(2)) fibers_.sleep(event.lot.up_to(10ms));
    begins(event, "process " + std::to_string(next) + " has become leader, and is killed");
    bury(next);
  }
  fibers_.sleep(event.lot.about(500ms));
  for (const auto& [each, process] : processes_) {
    if (!process.board) begin_process(each);
  }
}

// As SIGTERM does, and SIGKILL some time later. Just when a leader has sent something, it often has more to
// send.
void Simulation::end(Event& event, int number) {
  network_.await(Moment::kSent, number);
  if (load_is_over_) return;
  const microseconds time = event.lot.one_in(2) ? microseconds(kKilledAfter) : event.lot.up_to(4s);
  begins(event, "process " + std::to_string(number) + " is asked to end, and killed after " +
                    std::to_string(duration_cast<milliseconds>(time).count()) + " ms");
  Process& process = processes_.at(number);
  const SteadyTime begin = fibers_.now();
  const bool may_take_long = disturbed_ > begin || traits_.is_slow() || traits_.source_fails;
  process.stop.request_stop();
  while (!process.has_ended && fibers_.now() < begin + time) {
    fibers_.sleep(10ms);
    disturbed_ = std::max(disturbed_, fibers_.now());
    const bool is_calm = network_.is_calm_since(begin - traits_.request_timeout);
    if (!process.has_ended && is_calm && !may_take_long && fibers_.now() > begin + kEndsWithin)
      return find("a process that is asked to end in calm takes long", std::to_string(number));
  }
  note("process " + std::to_string(number) + (process.has_ended ? " has ended" : " is killed"));
  bury(number);
  fibers_.sleep(event.lot.about(500ms));
  begin_process(number);
}

void Simulation::bury(int number) {
  ++outcome_.deaths;
  disturbed_ = std::max(disturbed_, fibers_.now());
  fibers_.kill(number);
  network_.died(number);
  if (!processes_.at(number).has_ended) world_.database.cut(processes_.at(number).source);
  static_cast<void>(processes_.at(number).board.release());  // its threads had it
}

void Simulation::stop(Event& event, const std::vector<int>& numbers) {
  const microseconds time = event.lot.about(event.lot.one_in(3) || traits_.comes_late ? 60s : 2s);
  const bool is_cut = event.lot.one_in(2);  // the server does not wait for it
  for (const int number : numbers) {
    begins(event, "process " + std::to_string(number) + " is stopped for " +
                      std::to_string(duration_cast<milliseconds>(time).count()) + " ms" +
                      (is_cut ? ", and loses its connection" : ""));
    disturbed_ = std::max(disturbed_, fibers_.now() + time);
    fibers_.stop(number, fibers_.now() + time);
    if (is_cut) world_.database.cut(processes_.at(number).source);
  }
}

void Simulation::take_a_step(fake::Step step) {
  if (step == fake::Step::kCommitted) durable_ = commit_;
  microseconds time = steps_.about(300us);
  if (traits_.is_slow()) {
    Event event = schedule_.next("step");
    if (event.happens && event.lot.one_in(kSlowSteps)) {  // a lock, say
      time = event.lot.about(60s);
      begins(event, "a step of the source takes " +
                        std::to_string(duration_cast<milliseconds>(time).count()) + " ms");
    }
  }
  fibers_.sleep(time);
}

}  // namespace lockstep::simulation
