#include "tests/proof/simulation/reindexer.h"

#include <chrono>
#include <utility>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_mapping.h"
#include "replicator/error.h"
#include "replicator/pipeline/deployment.h"
#include "replicator/pipeline/reindex_orders.h"
#include "tests/support/fake_definition.h"
#include "tests/support/fake_source.h"

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMapping = R"({"mappings": {"dynamic": true}})";
constexpr std::uint32_t kDiesWithin = 30;  // milliseconds
constexpr std::uint32_t kMostKept = 20;    // seconds
constexpr std::uint32_t kMostRate = 20;    // documents a second

}  // namespace

void Reindexer::give_one() {
  const std::string alias = one_in(3) ? "files" : "posts";
  bool has_ended = false;
  parts_.fibers.start(parts_.process, [&, alias] {
    order(alias);
    has_ended = true;
  });
  const bool dies = one_in(3);
  const SteadyTime end = parts_.fibers.now() + std::chrono::milliseconds(below(kDiesWithin));
  while (!has_ended && (!dies || parts_.fibers.now() < end)) parts_.fibers.sleep(1ms);
  if (!has_ended) parts_.note("the command is killed");
  parts_.fibers.kill(parts_.process);
}

void Reindexer::order(const std::string& alias) {
  try {
    if (one_in(5)) return apply();
    fake::FakeSource source(parts_.world.database);
    const std::optional<Reindex> known = reindex_of(source.reindexes(), alias);
    if (!known || known->state == ReindexState::kFailed || one_in(5)) return start(source, alias);
    constexpr ReindexWish kWishes[] = {ReindexWish::kBack, ReindexWish::kBack, ReindexWish::kFinish,
                                       ReindexWish::kAbort};
    if (one_in(2)) want(source, kWishes[below(4)], alias);
  } catch (const std::exception& error) {
    const std::string why = error.what();
    parts_.note("the command fails: " + why.substr(0, why.find("-check-")));  // a name by chance
  }
}

// As `lockstep reindex ALIAS` does.
void Reindexer::start(Source& source, const std::string& alias) {
  const std::chrono::seconds keep(below(kMostKept));
  std::optional<std::int64_t> max_rate;
  if (one_in(2)) max_rate = 1 + below(kMostRate);
  parts_.note("reindex " + alias + " --keep " + std::to_string(keep.count()) + "s" +
              (max_rate ? " --max-rate " + std::to_string(*max_rate) : ""));
  const auto known = reindex_of(source.reindexes(), alias);
  if (!known || known->state == ReindexState::kFailed) {
    ElasticsearchClient client(parts_.network.transports()(),
                               parts_.world.config.elasticsearch.request_timeout);
    DesiredIndex desired;
    desired.alias = alias;
    desired.mapping = parse_mapping("the mapping", kMapping);
    desired.pipeline = source.pipeline().name;
    desired.identity = source.pipeline().identity;
    plan_reindex(client, desired);
  }
  order_reindex(source.reindexes(), {{alias, kMapping, keep, max_rate}, false, max_rate, {}},
                [&](const WantedReindex& wanted) { return source.reindexes().start(wanted); });
}

// As its --back, --finish and --abort do.
void Reindexer::want(Source& source, ReindexWish wish, const std::string& alias) {
  const auto force = one_in(6) ? Reindexes::Force::kYes : Reindexes::Force::kNo;
  parts_.note("reindex --" + std::string(name_of(wish)) + " " + alias +
              (force == Reindexes::Force::kYes ? " --force" : ""));
  for (const Reindex& reindex : reindexes_for(source.reindexes(), wish, {alias}))
    source.reindexes().want(reindex.id, wish, force);
}

// As `lockstep apply` does, with one more field in a mapping file or one less.
void Reindexer::apply() {
  parts_.note("apply");
  Config config = parts_.world.config;
  config.pipeline = parts_.world.pipeline.name;
  for (IndexConfig& index : config.indices) {
    const std::string field = "field" + std::to_string(below(3));
    index.mapping_json = R"({"mappings": {"properties": {")" + field + R"(": {"type": "keyword"}}}})";
  }
  fake::FakeDefinition definition(parts_.world.database, parts_.world.pipeline.indices);
  ElasticsearchClient client(parts_.network.transports()(), config.elasticsearch.request_timeout);
  Deployment(config, definition, client).apply({});
}

std::string Reindexer::finish() {
  fake::FakeSource source(parts_.world.database);
  Source& its = source;
  for (const Reindex& reindex : its.reindexes().all()) {
    if (reindex.state == ReindexState::kKept && reindex.wish != ReindexWish::kFinish)
      want(its, ReindexWish::kFinish, reindex.alias);
    if (reindex.state != ReindexState::kFailed)
      return "the reindex of " + reindex.alias + " is " + std::string(name_of(reindex.state)) + ": " +
             reindex.reason;
  }
  return "";
}

}  // namespace lockstep::simulation
