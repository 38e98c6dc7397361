// Promises 1, 2 and 3 under everything at once: writers change a tree and a schema with joins, two
// replicators follow, an operator reindexes, and a supervisor harms all of it. In rounds: at the end of each
// one the writers pause, the faults end, and the checker compares every document of every generation with its
// view. The exit code is 1 when anything was found.
//
// The seed decides what is written and which faults are chosen; the timing is the machine's.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>

#include "tests/proof/chaos/checker.h"
#include "tests/proof/chaos/crew.h"
#include "tests/proof/chaos/neighbour.h"
#include "tests/proof/chaos/probe.h"
#include "tests/proof/chaos/reindexer.h"
#include "tests/proof/chaos/replicator.h"
#include "tests/proof/chaos/report.h"
#include "tests/proof/chaos/search_servers.h"
#include "tests/proof/chaos/searcher.h"
#include "tests/proof/chaos/source_servers.h"
#include "tests/proof/chaos/supervisor.h"
#include "tests/support/eventually.h"
#include "tests/support/random_indices.h"
#include "tests/support/shipped_files.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::chaos {
namespace {

using std::chrono::seconds;
using support::PipelineUnderTest;
using support::PostgresDatabase;
using support::RecordingProxy;
using support::RowCounters;
using support::track;

struct Options {
  int seconds = 600;
  int round_seconds = 40;
  std::uint64_t seed = 1;
  int writers = 4;     // of each kind
  std::string engine;  // empty: the one that LOCKSTEP_TEST_ELASTICSEARCH names
  int nodes = 1;       // of that engine
  std::string folder;  // empty: a temporary one
};

// Every few rounds the database becomes an older one.
constexpr int kRoundsBetweenExchanges = 2;

std::atomic<bool> interrupted = false;
extern "C" void interrupt(int /*signal*/) {
  interrupted = true;
}

// "KEY.REVISION", as tree.sql names its nodes.
void count_name(RowCounters& counters, const std::string& name) {
  const auto dot = name.find('.');
  if (dot != std::string::npos) counters[name.substr(0, dot)] = std::stoll(name.substr(dot + 1));
}

RowCounters counters_of(std::string_view document) {
  const auto json = nlohmann::json::parse(document);
  if (json.contains("revisions")) return json.at("revisions").get<RowCounters>();
  if (json.contains("n")) return {{"n", json.at("n").get<std::int64_t>()}};
  RowCounters counters;
  count_name(counters, json.at("name").get<std::string>());
  std::istringstream path(json.at("path").get<std::string>());
  for (std::string name; std::getline(path, name, '/');) count_name(counters, name);
  if (json.at("contents").is_string())
    counters["contents"] = std::stoll(json.at("contents").get<std::string>());
  return counters;
}

// Low limits, so that some changes become jobs beside the tail and batches have several chunks; and a
// time-out that a late reply exceeds.
constexpr const char* kMore =
    "request_timeout = \"5s\"\n\n[replication]\nfan_out_threshold = 1100\nchunk_documents = 500\n";

std::vector<std::string> add_indices(PipelineUnderTest& pipeline) {
  std::vector<std::string> purposes = support::add_random_indices(pipeline);
  pipeline.add_index("fs", "fs.documents", support::shipped_tracks("config/fs.toml"));
  pipeline.add_index("probe", "search.probe", track("chaos.probe"));
  pipeline.add_index("shapes", "search.shapes", track("chaos.shapes", {{"row", "part || '/' || id"}}));
  purposes.insert(purposes.end(), {"fs", "probe", "shapes"});
  return purposes;
}

void make_schema(PostgresDatabase& database) {
  database.run(LOCKSTEP_SOURCE_DIR "/tests/support/random_schema.sql");
  database.run(LOCKSTEP_SOURCE_DIR "/schema/fs/postgresql/install.sql");
  database.run(LOCKSTEP_SOURCE_DIR "/tests/proof/chaos/tree.sql");
  database.run(LOCKSTEP_SOURCE_DIR "/tests/proof/chaos/shapes.sql");
  database.run(LOCKSTEP_SOURCE_DIR "/tests/proof/chaos/stranger.sql");
}

// Transactions that a writer prepared before the database became an older one, and what was copied in for
// good.
void tidy_up(PostgresDatabase& database) {
  database.reconnect();
  for (const auto& row :
       database.query("select gid from pg_prepared_xacts where database = current_database()")) {
    database.execute("rollback prepared '" + row[0].as<std::string>() + "'");
  }
  database.execute("delete from app.posts where id > 1000000; delete from app.events where id > 1000000");
}

Report run(const Options& options) {
  const support::TemporaryFolder temporary;
  const std::filesystem::path folder =
      options.folder.empty() ? temporary.path() : std::filesystem::path(options.folder);

  std::optional<SearchServers> search;
  if (!options.engine.empty()) {
    search.emplace(options.engine, folder, options.nodes);
    setenv("LOCKSTEP_TEST_ELASTICSEARCH", search->url().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  SourceServers source(folder);
  support::TcpProxy entrance(source.address());
  PostgresDatabase database("postgresql://postgres@127.0.0.1:" + std::to_string(entrance.port()) +
                            "/postgres");
  make_schema(database);

  RecordingProxy recorder(counters_of);
  PipelineUnderTest pipeline(database, recorder.url());
  pipeline.set_more(kMore);
  const std::vector<std::string> purposes = add_indices(pipeline);
  pipeline.apply();
  std::vector<std::string> aliases;
  for (const std::string& purpose : purposes) aliases.push_back(pipeline.index(purpose).alias());
  if (search && search->nodes() > 1) {
    for (const std::string& alias : aliases) search->replicate(alias);
  }
  std::vector<std::unique_ptr<Replicator>> replicators;
  for (const char* name : {"lockstep-a", "lockstep-b"}) {
    replicators.push_back(std::make_unique<Replicator>(name, pipeline, recorder.url(), folder));
  }
  // Not before all of them are made: making one writes the files that the others read.
  for (auto& replicator : replicators) replicator->start();

  Checker checker(pipeline, recorder, purposes);
  Neighbour neighbour;
  Supervisor supervisor(
      {source, entrance, database, recorder, search, neighbour, aliases, replicators, interrupted},
      options.seed);
  Crew crew(database, options.seed, options.writers);
  Reindexer reindexer({pipeline, purposes, replicators, options.nodes > 1 ? 1 : 0}, options.seed * 100 + 77);
  Report report;
  {
    const Probe probe(database, pipeline.index("probe").alias());
    const Searcher searcher(aliases, {pipeline.index("fs").alias(), pipeline.index("probe").alias()},
                            search ? Searcher::Elasticsearch::kHarmed : Searcher::Elasticsearch::kSafe);
    const int rounds = std::max(1, options.seconds / options.round_seconds);
    for (int round = 1; round <= rounds && !interrupted; ++round) {
      // The first round's faults meet the backfill.
      crew.work();
      reindexer.work();
      if (round % kRoundsBetweenExchanges == 0) {
        support::wait_until([] { return interrupted.load(); }, seconds(2));
        round / kRoundsBetweenExchanges % 2 == 1 ? supervisor.promote() : supervisor.put_back();
      }
      supervisor.disturb(seconds(options.round_seconds));
      reindexer.pause();
      crew.pause();
      supervisor.heal();
      tidy_up(database);
      reindexer.settle();
      checker.check();
      if (!checker.findings().clean() || !reindexer.broken().empty())
        break;           // the rest would only cover it up
      reindexer.work();  // so that what is copied may be in the middle of a reindex
      if (round % kRoundsBetweenExchanges == kRoundsBetweenExchanges - 1) {
        (round + 1) / kRoundsBetweenExchanges % 2 == 1 ? supervisor.prepare_promotion()
                                                       : supervisor.prepare_put_back();
      }
    }
    reindexer.pause();
    report.delays = probe.delays();
    report.searches = searcher.searches();
    report.misconduct = searcher.broken();
  }
  for (const auto& all : {supervisor.misconduct(), crew.broken(), reindexer.broken()})
    report.misconduct.insert(report.misconduct.end(), all.begin(), all.end());
  for (auto& replicator : replicators) {
    if (!replicator->terminate()) report.misconduct.push_back(replicator->name() + " did not end at the end");
    report.leaderships += replicator->leaderships();
  }
  report.committed = crew.committed();
  report.failed = crew.failed();
  report.faults = supervisor.counts();
  report.reindexing = reindexer.counts();
  report.operations = recorder.history().operations();
  report.superseded = recorder.history().superseded();
  report.repeated = recorder.history().repeated();
  report.findings = checker.findings();
  return report;
}

}  // namespace
}  // namespace lockstep::chaos

int main(int argc, char** argv) {
  lockstep::chaos::Options options;
  CLI::App app("Replicates under faults, and checks every document and every version.");
  app.add_option("--seconds", options.seconds, "of faults, over all rounds")->capture_default_str();
  app.add_option("--round", options.round_seconds, "seconds of faults before each check")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "decides what is written and what is broken")->capture_default_str();
  app.add_option("--writers", options.writers, "connections that write, of each of the two kinds")
      ->capture_default_str();
  app.add_option(
      "--engine", options.engine,
      "start this one (scripts/engine --help) and harm it too; else LOCKSTEP_TEST_ELASTICSEARCH names one");
  app.add_option("--nodes", options.nodes, "of that engine: a cluster, with a replica of each shard")
      ->check(CLI::Range(1, 5))
      ->capture_default_str();
  app.add_option("--folder", options.folder, "of the servers; default: a temporary one");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGINT, lockstep::chaos::interrupt);
  std::signal(SIGTERM, lockstep::chaos::interrupt);
  try {
    const lockstep::chaos::Report report = lockstep::chaos::run(options);
    lockstep::chaos::print(std::cout, report);
    std::cout << "\nseed " << options.seed << "; again with: scripts/chaos --seconds " << options.seconds
              << " --round " << options.round_seconds << " --writers " << options.writers << " --seed "
              << options.seed;
    if (!options.engine.empty()) std::cout << " --engine " << options.engine;
    if (options.nodes > 1) std::cout << " --nodes " << options.nodes;
    std::cout << std::endl;
    return report.findings.clean() && report.misconduct.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "chaos: " << error.what() << '\n';
    return 1;
  }
}
