// A pipeline's whole world in memory: a database, Elasticsearch, and leaders that are turned by hand, so that
// a test can stop between any two steps and ask: is the index what the view gives?
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/pipeline/leader.h"
#include "tests/support/fake_source.h"
#include "tests/unit/pipeline/fake_elasticsearch.h"

namespace lockstep::fake {

inline constexpr IndexId kPosts{1};        ///< the index "posts"
inline constexpr IndexId kFiles{2};        ///< the index "files", with routing
inline constexpr CaptureId kPostRows{10};  ///< of posts, by id
inline constexpr CaptureId kUserRows{11};  ///< of users, whose posts have changed
inline constexpr CaptureId kFileRows{20};  ///< of files, by id

AppliedPipeline test_pipeline();

/// The machine's clock, until it is stopped.
class StoppableClock final : public Clock {
 public:
  SteadyTime now() const override { return stopped_at_.value_or(std::chrono::steady_clock::now()); }
  void stop() { stopped_at_ = now(); }
  /// REQUIRES: stop() was called.
  void advance(std::chrono::milliseconds by) { *stopped_at_ += by; }

 private:
  std::optional<SteadyTime> stopped_at_;
};

struct World {
  explicit World(int shards = 3);

  const AppliedIndex& posts() const { return pipeline.indices[0]; }
  const AppliedIndex& files() const { return pipeline.indices[1]; }

  /// Commits a post {"user":…,"n":…} and what the trigger writes.
  void put_post(const std::string& id, const std::string& user, int n = 0);
  void remove_post(const std::string& id);
  /// Adds posts p0000, p0001, … without telling the outbox, as those that were there before `apply`.
  void add_silently(int posts, const std::string& user = "ann");
  /// Changes all posts of a user, one change in the outbox.
  void rename_user(const std::string& user, int n);
  /// From now on the posts are a generation beside the one that this alias names. Before the first leader.
  void make_beside(const std::string& alias);
  void put_file(const std::string& id, const std::string& routing, int n = 0);
  void remove_file(const std::string& id);

  /// "" when each index, and each generation beside one, holds what its view gives; else what differs.
  std::string difference() const;

  AppliedPipeline pipeline = test_pipeline();
  Config config;
  Database database{pipeline};
  Elasticsearch elasticsearch;
  StoppableClock clock;  ///< of the writers
  /// After so long without an answer an index is slow, to the leaders that come: never, on a busy machine.
  std::chrono::milliseconds slow_request = std::chrono::hours(1);
  int most_behind_slow_write = Standing::Patience{}.most_behind_slow_write;  ///< to the leaders that come
};

/// What a leader of a world has to itself.
struct LeaderOfWorld {
  explicit LeaderOfWorld(World& of);

  World& its_world;
  FakeSource source;
  ProgressBoard board;
  BulkWriter::TransportFactory transports;
};

/// The program's leader in a world. Destroying it is a kill: what is not saved is lost.
class Leader : public LeaderOfWorld, public lockstep::Leader {
 public:
  explicit Leader(World& of, SteadyTime earlier_writes_land = {});

  /// Works until nothing is left to do and everything is saved. False when that takes too long.
  bool catch_up();

  /// Takes outcomes until nothing is in flight. False when that takes too long.
  bool take_all_outcomes();

  /// Saves what Elasticsearch has acknowledged, as an idle loop does.
  void save() { checkpoint.save(tail.position()); }

  /// A number for the documents of a step, as those of a transaction get it.
  std::int64_t number() { return versions.number(*changes.begin(versions.epoch())); }

  /// Dead letters of an index in the source.
  std::int64_t dead_letters(IndexId index);

  std::vector<Acknowledged> saved;  ///< what each save has saved
};

/// Asks again until it is true or some seconds have passed.
bool eventually(const std::function<bool()>& condition);

}  // namespace lockstep::fake
