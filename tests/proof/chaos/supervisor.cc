#include "tests/proof/chaos/supervisor.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <pqxx/pqxx>
#include <thread>
#include <utility>

#include "replicator/document_version.h"
#include "tests/support/eventually.h"

namespace lockstep::chaos {
namespace {

using namespace std::chrono_literals;
using support::Disturbance;
using support::HttpMessage;
using support::RecordingProxy;

constexpr const char* kProcess = "process";
constexpr const char* kToSource = "to source";
constexpr const char* kToElasticsearch = "to elasticsearch";
constexpr const char* kSource = "source";
constexpr const char* kReplies = "replies";
constexpr const char* kEngine = "engine";
constexpr const char* kIndex = "index";
constexpr const char* kForeign = "foreign writes";

// Disturbs a share of the bulk requests, chosen by a generator of its own since the recorder asks from
// several threads.
RecordingProxy::Disturber some_bulks(std::uint64_t seed, int percent,
                                     std::function<Disturbance(std::mt19937_64&)> disturbance) {
  struct Shared {
    std::mutex mutex;
    std::mt19937_64 random;
  };
  auto shared = std::make_shared<Shared>();
  shared->random.seed(seed);
  return [shared, percent,
          disturbance = std::move(disturbance)](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!RecordingProxy::is_bulk(request)) return std::nullopt;
    const std::lock_guard lock(shared->mutex);
    if (std::uniform_int_distribution<int>(1, 100)(shared->random) > percent) return std::nullopt;
    return disturbance(shared->random);
  };
}

}  // namespace

Supervisor::Supervisor(Stage stage, std::uint64_t seed) : stage_(stage), random_(seed) {
  add_process_faults();
  add_source_faults();
  add_elasticsearch_faults();
  add_neighbour_faults();
  if (stage_.search) add_engine_faults();
}

Supervisor::~Supervisor() {
  try {
    end_over(Clock::time_point::max());
  } catch (const std::exception& error) {
    note(error.what());
  }
}

void Supervisor::add_process_faults() {
  const auto killed = [this](Replicator& replicator) {
    replicator.kill();
    later(between(0, 2000), [&replicator] { replicator.start(); });
  };
  faults_.push_back({"kill -9 of lockstep", 70, kProcess, killed});
  faults_.push_back({"SIGTERM", 4, kProcess, [this](Replicator& replicator) {
                       if (!replicator.terminate()) {
                         misconduct_.push_back(replicator.name() + " did not end after SIGTERM");
                       }
                       later(between(0, 2000), [&replicator] { replicator.start(); });
                     }});
  faults_.push_back({"SIGSTOP", 5, kProcess, [this](Replicator& replicator) {
                       replicator.freeze();
                       later(between(1000, 8000), [&replicator] { replicator.thaw(); });
                     }});
  // It loses the lead while it is asleep, and wakes up as one that was deposed.
  faults_.push_back({"SIGSTOP, deposed meanwhile", 6, kProcess, [this](Replicator& replicator) {
                       replicator.freeze();
                       replicator.to_source().cut();
                       later(between(2000, 12000), [&replicator] { replicator.thaw(); });
                     }});
}

void Supervisor::add_source_faults() {
  faults_.push_back(
      {"source connections cut", 5, kToSource, [](Replicator& replicator) { replicator.to_source().cut(); }});
  faults_.push_back({"source connections cut in a reply", 6, kToSource, [this](Replicator& replicator) {
                       replicator.to_source().cut_after(pick(1, 20000));
                       later(2s, [&replicator] { replicator.to_source().heal(); });
                     }});
  faults_.push_back({"source stalled", 3, kToSource, [this](Replicator& replicator) {
                       replicator.to_source().stall();
                       later(between(500, 6000), [&replicator] { replicator.to_source().heal(); });
                     }});
  faults_.push_back({"source delayed", 3, kToSource, [this](Replicator& replicator) {
                       replicator.to_source().delay(between(5, 80));
                       later(between(1000, 4000), [&replicator] { replicator.to_source().heal(); });
                     }});
  faults_.push_back({"source gone without a word", 4, kToSource, [this](Replicator& replicator) {
                       replicator.to_source().desert();
                       later(between(1000, 8000), [&replicator] { replicator.to_source().heal(); });
                     }});
  faults_.push_back({"source refuses connections", 2, kToSource, [this](Replicator& replicator) {
                       replicator.to_source().refuse();
                       replicator.to_source().cut();
                       later(between(500, 4000), [&replicator] { replicator.to_source().heal(); });
                     }});
  faults_.push_back({"kill of PostgreSQL (immediate restart)", 14, kSource,
                     [this](Replicator&) { stage_.source.crash(); }, false});
}

void Supervisor::add_elasticsearch_faults() {
  faults_.push_back({"Elasticsearch connections cut", 5, kToElasticsearch,
                     [](Replicator& replicator) { replicator.to_elasticsearch().cut(); }});
  faults_.push_back(
      {"Elasticsearch connections cut in a reply", 6, kToElasticsearch, [this](Replicator& replicator) {
         replicator.to_elasticsearch().cut_after(pick(1, 5000));
         later(2s, [&replicator] { replicator.to_elasticsearch().heal(); });
       }});
  faults_.push_back({"Elasticsearch stalled", 3, kToElasticsearch, [this](Replicator& replicator) {
                       replicator.to_elasticsearch().stall();
                       later(between(500, 7000), [&replicator] { replicator.to_elasticsearch().heal(); });
                     }});
  faults_.push_back({"Elasticsearch delayed", 3, kToElasticsearch, [this](Replicator& replicator) {
                       replicator.to_elasticsearch().delay(between(5, 150));
                       later(between(1000, 4000), [&replicator] { replicator.to_elasticsearch().heal(); });
                     }});
  faults_.push_back(
      {"Elasticsearch refuses connections", 2, kToElasticsearch, [this](Replicator& replicator) {
         replicator.to_elasticsearch().refuse();
         replicator.to_elasticsearch().cut();
         later(between(500, 4000), [&replicator] { replicator.to_elasticsearch().heal(); });
       }});
  const auto disturbing = [this](int percent, Milliseconds duration,
                                 std::function<Disturbance(std::mt19937_64&)> disturbance) {
    stage_.recorder.disturb(some_bulks(random_(), percent, std::move(disturbance)));
    later(duration, [this] { stage_.recorder.disturb({}); });
  };
  faults_.push_back({"replies lost after the write", 6, kReplies,
                     [this, disturbing](Replicator&) {
                       disturbing(30, between(1000, 4000),
                                  [](auto&) { return Disturbance{.lose_reply = true}; });
                     },
                     false});
  faults_.push_back({"429 and 503", 4, kReplies,
                     [this, disturbing](Replicator&) {
                       disturbing(60, between(500, 3000), [](auto& random) {
                         return Disturbance{.status = random() % 2 == 0 ? 429 : 503, .body = "{}"};
                       });
                     },
                     false});
  // Longer than lockstep waits for a reply, some of them: they land when it has sent them again, or when
  // another one leads.
  faults_.push_back({"requests that land late", 6, kReplies,
                     [this, disturbing](Replicator&) {
                       disturbing(25, between(500, 3000), [](auto& random) {
                         return Disturbance{
                             .delay = Milliseconds(std::uniform_int_distribution<int>(200, 9000)(random))};
                       });
                     },
                     false});
}

void Supervisor::add_neighbour_faults() {
  faults_.push_back({"index blocked", 5, kIndex,
                     [this](Replicator&) {
                       const std::string alias = any_alias();
                       stage_.neighbour.block(alias);
                       later(between(500, 6000), [this, alias] { stage_.neighbour.unblock(alias); });
                     },
                     false});
  faults_.push_back({"documents written by others", 5, kForeign,
                     [this](Replicator&) { stage_.neighbour.rewrite(any_alias()); }, false});
}

void Supervisor::add_engine_faults() {
  // It takes a node a while to start; meanwhile the rest goes on.
  const auto in_background = [this](std::function<void()> work) {
    engine_work_ = std::async(std::launch::async, std::move(work));
    later(60s, [this] { engine_work_.get(); });
  };
  const auto crash = [this, in_background](int node) {
    in_background([this, node] { stage_.search->crash(node); });
  };
  const auto freeze = [this](int node) {
    stage_.search->freeze(node);
    later(between(1000, 9000), [this, node] { stage_.search->thaw(node); });
  };
  faults_.push_back(
      {"kill -9 of Elasticsearch", 3, kEngine, [this, crash](Replicator&) { crash(any_node()); }, false});
  faults_.push_back(
      {"SIGSTOP of Elasticsearch", 3, kEngine, [this, freeze](Replicator&) { freeze(any_node()); }, false});
  if (stage_.search->nodes() == 1) return;
  faults_.push_back({"kill -9 of the elected master", 4, kEngine,
                     [this, crash](Replicator&) { crash(stage_.search->master()); }, false});
  faults_.push_back({"SIGSTOP of the elected master", 3, kEngine,
                     [this, freeze](Replicator&) { freeze(stage_.search->master()); }, false});
}

void Supervisor::disturb(std::chrono::seconds duration) {
  const auto end = Clock::now() + duration;
  auto next = Clock::now();
  while (Clock::now() < end && !stage_.interrupted) {
    const auto now = Clock::now();
    end_over(now);
    look_after_replicators();
    if (now >= next) {
      begin_one();
      next = Clock::now() + between(100, 1100);
    }
    std::this_thread::sleep_for(10ms);
  }
}

void Supervisor::begin_one() {
  int total = 0;
  for (const Fault& fault : faults_) total += fault.weight;
  int at = pick(1, total);
  const auto fault = std::find_if(faults_.begin(), faults_.end(), [&](const Fault& candidate) {
    at -= candidate.weight;
    return at <= 0;
  });
  Replicator& replicator = pick(1, 100) <= 70 ? leader() : any();
  lane_ = fault->of_replicator ? replicator.name() + " " + fault->lane : fault->lane;
  const bool taken = std::any_of(endings_.begin(), endings_.end(),
                                 [&](const Ending& ending) { return ending.lane == lane_; });
  if (taken) return;
  note(std::string(fault->name) + (fault->of_replicator ? ": " + replicator.name() : ""));
  ++counts_[fault->name];
  fault->begin(replicator);
}

void Supervisor::later(Milliseconds duration, std::function<void()> end) {
  endings_.push_back({Clock::now() + duration, lane_, std::move(end)});
}

void Supervisor::end_over(Clock::time_point now) {
  for (std::size_t i = 0; i < endings_.size();) {
    if (endings_[i].at > now) {
      ++i;
      continue;
    }
    const Ending ending = std::move(endings_[i]);
    endings_.erase(endings_.begin() + static_cast<std::ptrdiff_t>(i));
    ending.end();
  }
}

void Supervisor::look_after_replicators() {
  for (auto& replicator : stage_.replicators) {
    std::string output;
    if (!replicator->has_ended(output)) continue;
    note(replicator->name() + " has ended by itself");
    misconduct_.push_back(replicator->name() + " has ended by itself, " +
                          output.substr(output.size() - std::min<std::size_t>(output.size(), 1500)));
    replicator->start();
  }
}

void Supervisor::heal() {
  end_over(Clock::time_point::max());
  stage_.neighbour.settle();
  look_after_replicators();
  for (auto& replicator : stage_.replicators) {
    if (!replicator->started()) replicator->start();
  }
  note("all is well again");
}

// By what the leader has said of itself. Who led last may be dead, and the source may be away: then any.
Replicator& Supervisor::leader() {
  Replicator& otherwise = any();
  try {
    const auto connection = stage_.database.connect();
    const pqxx::result rows = support::execute(*connection, "select pid from lockstep.pipeline_status");
    for (auto& replicator : stage_.replicators) {
      if (!rows.empty() && replicator->pid() == rows[0][0].as<int>()) return *replicator;
    }
  } catch (const pqxx::failure&) {
    // It is away.
  }
  return otherwise;
}

Replicator& Supervisor::any() {
  return *stage_.replicators.at(
      static_cast<std::size_t>(pick(0, static_cast<int>(stage_.replicators.size()) - 1)));
}

std::int64_t Supervisor::epoch() {
  const auto connection = stage_.database.connect();
  return support::execute(*connection, "select epoch from lockstep.checkpoint").at(0)[0].as<std::int64_t>();
}

void Supervisor::prepare_put_back() {
  note("a copy of the database is taken");
  epoch_of_copy_ = epoch();
  stage_.source.take_copy();
}

void Supervisor::prepare_promotion() {
  note("a replica is started");
  stage_.source.start_replica();
}

void Supervisor::put_back() {
  // On the same timeline nothing but the epoch tells an older state from the one that the index has seen.
  const bool recovered = epoch() == epoch_of_copy_ || pick(1, 2) == 1;
  exchange_source(recovered ? "database recovered from an older backup" : "database put back to older files",
                  [this, recovered] {
                    stage_.source.put_copy_back(recovered ? SourceServers::Return::kRecovery
                                                          : SourceServers::Return::kFiles);
                  });
}

void Supervisor::promote() {
  stage_.source.hold_replication();
  support::wait_until([this] { return stage_.interrupted.load(); }, between(0, 3000));
  exchange_source("replica promoted, commits lost", [this] { stage_.source.promote_replica(); });
}

void Supervisor::exchange_source(const char* what, const std::function<void()>& exchange) {
  note(what);
  ++counts_[what];
  const std::int64_t last_epoch = epoch();
  // Now and then the leader sleeps through it.
  Replicator& replicator = leader();
  lane_ = replicator.name() + " " + kProcess;
  if (pick(1, 3) == 1) {
    note("SIGSTOP meanwhile: " + replicator.name());
    replicator.freeze();
    later(between(2000, 9000), [&replicator] { replicator.thaw(); });
  }
  exchange();
  // Nobody can have written under a greater epoch before the exchange, nor under this one after it.
  stage_.recorder.history().source_put_back(DocumentVersion({last_epoch + 1}, 0).value() - 1);
  stage_.entrance.lead_to(stage_.source.address());
  stage_.entrance.cut();
  for (auto& each : stage_.replicators) {
    each->to_source().lead_to(stage_.source.address());
    each->to_source().cut();
  }
}

void Supervisor::note(const std::string& what) {
  std::fprintf(stderr, "%8.1f s  %s\n", std::chrono::duration<double>(Clock::now() - begun_).count(),
               what.c_str());
}

}  // namespace lockstep::chaos
