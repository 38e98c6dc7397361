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

LeaderPatience quick(const World& world, SteadyTime earlier_writes_land) {
  LeaderPatience patience;
  patience.slow_request = world.slow_request;
  patience.with_document = milliseconds(500);
  patience.bulk_backoff = patience.with_index.ask_again = {milliseconds(1), milliseconds(5)};
  patience.with_index.most_behind_slow_write = world.most_behind_slow_write;
  patience.earlier_writes_land = earlier_writes_land;
  return patience;
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

void World::make_beside(const std::string& alias) {
  pipeline.indices.front().beside = alias;
  database.apply(pipeline);
  std::erase_if(config.indices, [&](const IndexConfig& index) { return index.alias == posts().alias; });
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
  const std::shared_ptr<const State> state = database.snapshot();
  std::string text;
  for (const AppliedIndex& index : state->pipeline.indices) {
    Elasticsearch::Documents found = elasticsearch.documents(index.target());
    for (const auto& [id, row] : state->view(index.id)) {
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

LeaderOfWorld::LeaderOfWorld(World& of)
    : its_world(of), source(of.database), transports(of.elasticsearch.transports()) {
  source.lead().try_lead();
}

Leader::Leader(World& of, SteadyTime earlier_writes_land)
    : LeaderOfWorld(of),
      lockstep::Leader({of.config, source, transports, board, of.clock}, quick(of, earlier_writes_land)) {
  checkpoint.on_saved([this](const Acknowledged& news) {
    after_save(news);
    saved.push_back(news);
  });
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
    if (turn()) continue;
    if (!writer.idle()) {
      writer.take_outcomes(milliseconds(20));
    } else if (writer.has_news()) {
      save();
    } else if (at_rest()) {
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
