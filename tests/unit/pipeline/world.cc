#include "tests/unit/pipeline/world.h"

#include <chrono>
#include <thread>

namespace lockstep::fake {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kDeadline{20};

std::string post_json(const std::string& user, int n) {
  return R"({"user":")" + user + R"(","n":)" + std::to_string(n) + "}";
}

BulkWriter::Options quick_options(const World& world) {
  const Config& config = world.config;
  BulkWriter::Options options;
  options.bulk_bytes = static_cast<std::size_t>(config.elasticsearch.bulk_bytes);
  options.bulks_in_flight = config.elasticsearch.bulks_in_flight;
  options.indices = world.pipeline.indices.size();
  options.slow_request = world.slow_request;
  options.backoff = {milliseconds(1), milliseconds(5)};
  return options;
}

Epoch led_epoch(FakeSource& source) {
  Lead& lead = source.lead();
  lead.try_lead();
  return lead.raise_epoch({}, lead.known_partners());
}

}  // namespace

AppliedPipeline test_pipeline() {
  AppliedPipeline pipeline;
  pipeline.id = 1;
  pipeline.name = "test";
  pipeline.identity = "the-identity";
  pipeline.revision = "1";
  AppliedIndex posts;
  posts.id = kPosts;
  posts.alias = "posts";
  posts.view = "search.posts";
  posts.captures = {kPostRows, kUserRows};
  AppliedIndex files;
  files.id = kFiles;
  files.alias = "files";
  files.view = "search.files";
  files.routed = true;
  files.captures = {kFileRows};
  pipeline.indices = {posts, files};
  return pipeline;
}

World::World(int shards) : elasticsearch(shards) {
  for (const AppliedIndex& index : pipeline.indices) {
    elasticsearch.create(index.alias, pipeline.identity);
    config.indices.push_back({});
    config.indices.back().alias = index.alias;
  }
  database.resolve_with(kPosts, kUserRows, [](const State& state, const std::string& user) {
    Values ids;
    if (!state.views.contains(kPosts)) return ids;
    for (const auto& [id, row] : state.views.at(kPosts)) {
      if (row.json.starts_with(R"({"user":")" + user + "\"")) ids.push_back(id);
    }
    return ids;
  });
}

void World::put_post(const std::string& id, const std::string& user, int n) {
  database.commit(
      [&](Change& change) { change.put(kPosts, id, post_json(user, n)).captured(kPostRows, {id}); });
}

void World::remove_post(const std::string& id) {
  database.commit([&](Change& change) { change.remove(kPosts, id).captured(kPostRows, {id}); });
}

void World::add_silently(int posts, const std::string& user) {
  database.commit([&](Change& change) {
    for (int i = 0; i < posts; ++i) {
      const std::string digits = std::to_string(i);
      change.put(kPosts, "p" + std::string(4 - digits.size(), '0') + digits, post_json(user, 0));
    }
  });
}

void World::rename_user(const std::string& user, int n) {
  const View posts = database.state().views[kPosts];
  database.commit([&](Change& change) {
    for (const auto& [id, row] : posts) {
      if (row.json.starts_with(R"({"user":")" + user + "\"")) change.put(kPosts, id, post_json(user, n));
    }
    change.captured(kUserRows, {user});
  });
}

void World::put_file(const std::string& id, const std::string& routing, int n) {
  database.commit([&](Change& change) {
    change.put(kFiles, id, "{\"n\":" + std::to_string(n) + "}", routing).captured(kFileRows, {id});
  });
}

void World::remove_file(const std::string& id) {
  database.commit([&](Change& change) { change.remove(kFiles, id).captured(kFileRows, {id}); });
}

std::string World::difference() const {
  State state = database.state();
  std::string text;
  for (const AppliedIndex& index : pipeline.indices) {
    Elasticsearch::Documents found = elasticsearch.documents(index.alias);
    for (const auto& [id, row] : state.views[index.id]) {
      const auto document = found.find({id, index.routed ? row.routing : ""});
      if (document == found.end()) {
        text += index.alias + " lacks " + id + "\n";
        continue;
      }
      if (document->second != row.json) {
        text += index.alias + " has " + id + " as " + document->second + " instead of " + row.json + "\n";
      }
      found.erase(document);
    }
    for (const auto& [place, json] : found)
      text += index.alias + " has " + place.first + " under \"" + place.second + "\" too many\n";
  }
  return text;
}

Leader::Leader(World& of, SteadyTime write_lifetime_over)
    : world(of),
      source(world.database),
      versions(led_epoch(source)),
      bulks(quick_options(world), world.elasticsearch.transports()),
      writer(bulks, board, world.pipeline, world.clock),
      held(world.pipeline, world.elasticsearch.transports()(), [] {}, {milliseconds(1), milliseconds(5)}),
      checkpoint(world.pipeline, source.changes(), writer, board, versions.epoch(),
                 RefusedShare(of.config.replication.max_refused_share, of.pipeline)),
      set_aside(world.pipeline, source.changes(), versions.epoch()),
      jobs(
          world.config, world.pipeline, set_aside, held, source.changes(), writer, checkpoint, versions,
          board, [&of] { return std::make_shared<ElasticsearchClient>(of.elasticsearch.transports()()); },
          write_lifetime_over, [] {}),
      tail(world.config, world.pipeline, set_aside, held, source.changes(), writer, checkpoint, versions,
           board,
           {[this](Job job) { jobs.add(std::move(job)); }, [this](JobId job) { return jobs.has(job); }},
           world.most_behind_slow_write) {
  writer.on_held(
      [this](const DocumentKey& document, const std::string& reason) { held.hold(document, reason); });
  checkpoint.on_parked([this](const std::vector<Job>& added) {
    for (const Job& job : added) jobs.add_parked(job, steady_clock::now());
  });
  checkpoint.on_saved([this](const Acknowledged& news) {
    jobs.saved(news);
    saved.push_back(news);
  });
  for (Job& job : source.changes().jobs().readable) jobs.add(std::move(job));
  for (const AppliedIndex& index : world.pipeline.indices) {
    const std::int64_t letters = dead_letters(index.id);
    if (letters == 0) continue;
    writer.expect_dead_letters(index.id);
    checkpoint.begin_trial(index.id, letters);
  }
}

std::int64_t Leader::dead_letters(IndexId index) {
  DeadLetterFilter all;
  all.indices = {index};
  return source.dead_letters().count(all);
}

bool Leader::take_all_outcomes() {
  const auto end = steady_clock::now() + kDeadline;
  while (!writer.idle()) {
    if (steady_clock::now() > end) return false;
    writer.take_outcomes(milliseconds(20));
  }
  return true;
}

bool Leader::catch_up() {
  const auto end = steady_clock::now() + kDeadline;
  while (steady_clock::now() < end) {
    writer.take_outcomes(milliseconds(0));
    bool worked = tail.turn();
    worked = jobs.turn() || worked;
    if (worked) continue;
    if (!writer.idle()) {
      writer.take_outcomes(milliseconds(20));
      continue;
    }
    checkpoint.end_trials();
    if (writer.has_news()) {
      save();
    } else if (tail.idle() && tail.at_end() && jobs.all_done()) {
      save();
      return true;
    }
  }
  return false;
}

bool eventually(const std::function<bool()>& condition) {
  const auto end = steady_clock::now() + kDeadline;
  while (!condition()) {
    if (steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace lockstep::fake
