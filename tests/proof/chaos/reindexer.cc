#include "tests/proof/chaos/reindexer.h"

#include <cstdio>
#include <optional>
#include <pqxx/pqxx>
#include <regex>
#include <utility>

namespace lockstep::chaos {
namespace {

using namespace std::chrono_literals;
using support::Completed;
using support::Program;

constexpr auto kPatience = 600s;  // until everything is settled
constexpr int kMostColumns = 6;   // that a view gets

std::string mapping(int shards, int replicas) {
  return R"({"settings": {"number_of_shards": )" + std::to_string(shards) + R"(, "number_of_replicas": )" +
         std::to_string(replicas) + R"(, "refresh_interval": "-1"}, "mappings": {"dynamic": false}})";
}

std::vector<std::string> commands_in(const std::string& words) {
  static const std::regex pattern("`lockstep (reindex[^`]*)`");
  std::vector<std::string> commands;
  for (std::sregex_iterator found(words.begin(), words.end(), pattern), none; found != none; ++found)
    commands.push_back((*found)[1]);
  return commands;
}

std::vector<std::string> words_of(const std::string& text) {
  static const std::regex blank(" +");
  return {std::sregex_token_iterator(text.begin(), text.end(), blank, -1), {}};
}

}  // namespace

Reindexer::Reindexer(Stage stage, std::uint64_t seed) : stage_(std::move(stage)), random_(seed) {
  for (const std::string& purpose : stage_.purposes) {
    first_views_[purpose] = stage_.pipeline.view(purpose);
    replace_view(purpose);
  }
  thread_ = std::thread([this] { run(); });
}

Reindexer::~Reindexer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    working_ = false;
  }
  changed_.notify_all();
  thread_.join();
}

void Reindexer::work() {
  const std::lock_guard lock(mutex_);
  working_ = true;
  changed_.notify_all();
}

void Reindexer::pause() {
  std::unique_lock lock(mutex_);
  working_ = false;
  changed_.wait(lock, [&] { return !busy_; });
}

void Reindexer::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [&] { return stopping_ || working_; });
    busy_ = true;
    lock.unlock();
    while (working_) {
      try {
        move();
      } catch (const pqxx::failure&) {
        // The database is away.
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(pick(50, 600)));
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

// "" while there is none.
std::string Reindexer::state_of(const std::string& purpose) {
  const auto connection = stage_.pipeline.database().connect();
  pqxx::nontransaction work(*connection);
  const pqxx::result rows = work.exec_params("select state from lockstep.reindex where alias = $1",
                                             stage_.pipeline.index(purpose).alias());
  return rows.empty() ? "" : rows[0][0].c_str();
}

// Mostly what fits the state; now and then what doesn't, as two operators do.
void Reindexer::move() {
  const std::string& purpose =
      stage_.purposes.at(static_cast<std::size_t>(pick(0, static_cast<int>(stage_.purposes.size()) - 1)));
  const std::string alias = stage_.pipeline.index(purpose).alias();
  const std::string state = state_of(purpose);
  if (chance(10)) return change_view(purpose);
  if (chance(5)) return reindex(purpose);
  if (state == "kept" || chance(3)) {
    const bool goes_back = chance(60);
    return command(goes_back ? "reindex --back" : "reindex --finish",
                   {"reindex", goes_back ? "--back" : "--finish", "--yes", alias});
  }
  if (state.empty() || state == "failed") return reindex(purpose);
  if (chance(20)) command("reindex --abort", {"reindex", "--abort", alias});
}

void Reindexer::reindex(const std::string& purpose) {
  support::PipelineUnderTest& pipeline = stage_.pipeline;
  if (state_of(purpose).empty()) {
    pipeline.set_mapping(purpose, mapping(pick(1, 3), stage_.replicas));
    if (chance(50)) pipeline.set_view(purpose, chance(50) ? first_views_.at(purpose) : other_view(purpose));
    for (const auto& replicator : stage_.replicators) replicator->configure(pipeline);
  }
  command("reindex", {"reindex", pipeline.index(purpose).alias(), "--keep", chance(80) ? "1h" : "0s"});
}

// Other contents, and now and then a column more at the end.
void Reindexer::replace_view(const std::string& purpose) {
  int& more = columns_[purpose];
  if (more < kMostColumns) ++more;
  std::string columns;
  for (int i = 1; i <= more; ++i)
    columns += ", " + std::to_string(pick(1, 1000)) + " as more" + std::to_string(i);
  const auto connection = stage_.pipeline.database().connect();
  support::execute(*connection, "set lock_timeout = '2s'; create or replace view " + other_view(purpose) +
                                    " as select v.*" + columns + " from " + first_views_.at(purpose) + " v");
}

void Reindexer::change_view(const std::string& purpose) {
  replace_view(purpose);
  command("view replaced, then apply", {"apply", "--yes"});
}

void Reindexer::command(const std::string& what, std::vector<std::string> arguments) {
  note(what + (arguments.size() > 1 ? ": " + arguments.back() : ""));
  ++counts_[what];
  arguments.insert(arguments.begin() + 1, {"-c", stage_.pipeline.configuration().string()});
  Program program(support::lockstep_program(), arguments);
  const auto killed_at = Clock::now() + std::chrono::milliseconds(pick(200, 12'000));
  while (program.running() && working_ && Clock::now() < killed_at) std::this_thread::sleep_for(20ms);
  if (program.running()) {
    program.kill();
    ++counts_["  commands that were killed"];
    return;
  }
  const int code = program.wait(1s).value_or(-1);
  if (code == 0) ++counts_["  " + what + " that came to its end"];
  if (code < 0 || code > 2)
    broken_.push_back(what + " ended with " + std::to_string(code) + ": " + program.err());
}

// What keeps the configuration from being what is followed, or a reindex from its end, in the program's
// words; empty: nothing.
std::string Reindexer::first_obstacle() {
  const Completed applied = stage_.pipeline.lockstep("apply", {"--yes"});
  if (applied.exit_code != 0) return applied.out + applied.err;
  for (const auto& reindex : stage_.pipeline.status().at("reindexes")) {
    const std::string state = reindex.at("state");
    if (!reindex.at("wanted").get<std::string>().empty() || (state != "kept" && state != "failed"))
      return "reindex of " + reindex.at("alias").get<std::string>() + ": " + state + ", wanted \"" +
             reindex.at("wanted").get<std::string>() + "\": " + reindex.at("reason").get<std::string>();
    if (state == "failed")
      return "reindex of " + reindex.at("alias").get<std::string>() +
             " has failed: " + reindex.at("failure").get<std::string>() + "; `lockstep reindex " +
             reindex.at("alias").get<std::string>() + "`";
  }
  return "";
}

// Does what they say, all at once, and what is said then; each command ends when its reindex does.
void Reindexer::follow_words(const std::string& words, int deeper) {
  std::vector<std::unique_ptr<Program>> programs;
  for (const std::string& text : commands_in(words)) {
    note("as the program says: " + text);
    ++counts_["commands that the program asked for"];
    std::vector<std::string> arguments = words_of(text);
    arguments.insert(arguments.begin() + 1, {"-c", stage_.pipeline.configuration().string()});
    programs.push_back(std::make_unique<Program>(support::lockstep_program(), arguments));
  }
  for (const auto& program : programs) {
    if (program->wait(kPatience) == 0 || deeper == 0) continue;
    note(program->err());
    follow_words(program->err(), deeper - 1);
  }
}

void Reindexer::settle() {
  const auto begin = Clock::now();
  std::string obstacle = first_obstacle();
  for (std::string last; !obstacle.empty() && Clock::now() - begin < kPatience; obstacle = first_obstacle()) {
    if (obstacle != last) note(obstacle);
    last = obstacle;
    follow_words(obstacle, 2);
    std::this_thread::sleep_for(200ms);
  }
  if (!obstacle.empty()) broken_.push_back("cannot be settled: " + obstacle);
}

void Reindexer::note(const std::string& what) {
  std::fprintf(stderr, "%8.1f s  %s\n", std::chrono::duration<double>(Clock::now() - begun_).count(),
               what.c_str());
}

}  // namespace lockstep::chaos
