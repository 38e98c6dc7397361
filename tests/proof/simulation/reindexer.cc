#include "tests/proof/simulation/reindexer.h"

#include <chrono>
#include <utility>
#include <vector>

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

void Reindexer::give_one(Event& event) {
  const std::string alias = event.lot.one_in(3) ? "files" : "posts";
  const bool dies = event.lot.one_in(3);
  const auto lives = std::chrono::milliseconds(event.lot.below(kDiesWithin));
  bool has_ended = false;
  parts_.fibers.start(parts_.process, [&, alias] {
    give(event, alias);
    has_ended = true;
  });
  const SteadyTime end = parts_.fibers.now() + lives;
  while (!has_ended && (!dies || parts_.fibers.now() < end)) parts_.fibers.sleep(1ms);
  if (!has_ended) parts_.note("the command is killed");
  parts_.fibers.kill(parts_.process);
  parts_.network.died(parts_.process);
}

void Reindexer::give(Event& event, const std::string& alias) {
  Lot& lot = event.lot;
  try {
    if (lot.one_in(5)) return apply(event);
    fake::FakeSource source(parts_.world.database);
    const std::optional<Reindex> known = reindex_of(source.reindexes(), alias);
    if (!known || known->state == ReindexState::kFailed || lot.one_in(5)) return start(event, source, alias);
    if (!lot.one_in(2)) return;
    const ReindexWish wish = lot.one_of(
        std::vector{ReindexWish::kBack, ReindexWish::kBack, ReindexWish::kFinish, ReindexWish::kAbort});
    const auto force = lot.one_in(6) ? Reindexes::Force::kYes : Reindexes::Force::kNo;
    parts_.begins(event, "reindex --" + std::string(name_of(wish)) + " " + alias +
                             (force == Reindexes::Force::kYes ? " --force" : ""));
    want(source, wish, alias, force);
  } catch (const std::exception& error) {
    const std::string why = error.what();
    parts_.note("the command fails: " + why.substr(0, why.find("-check-")));  // a name by chance
  }
}

// As `lockstep reindex ALIAS` does.
void Reindexer::start(Event& event, Source& source, const std::string& alias) {
  const std::chrono::seconds keep(event.lot.below(kMostKept));
  std::optional<std::int64_t> max_rate;
  if (event.lot.one_in(2)) max_rate = 1 + event.lot.below(kMostRate);
  const auto force = event.lot.one_in(6) ? Reindexes::Force::kYes : Reindexes::Force::kNo;
  if (force == Reindexes::Force::kYes) ++forced_;
  parts_.begins(event, "reindex " + alias + " --keep " + std::to_string(keep.count()) + "s" +
                           (max_rate ? " --max-rate " + std::to_string(*max_rate) : "") +
                           (force == Reindexes::Force::kYes ? " --force" : ""));
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
  order_reindex(source.reindexes(), {{alias, kMapping, keep, max_rate}, false, max_rate, force},
                [&](const WantedReindex& wanted) { return source.reindexes().start(wanted); });
}

// As its --back, --finish and --abort do.
void Reindexer::want(Source& source, ReindexWish wish, const std::string& alias, Reindexes::Force force) {
  if (force == Reindexes::Force::kYes) ++forced_;
  for (const Reindex& reindex : reindexes_for(source.reindexes(), wish, {alias}))
    source.reindexes().want(reindex.id, wish, force);
}

// As `lockstep apply` does, with one more field in a mapping file or one less.
void Reindexer::apply(Event& event) {
  parts_.begins(event, "apply");
  Config config = parts_.world.config;
  config.pipeline = parts_.world.pipeline.name;
  for (IndexConfig& index : config.indices) {
    const std::string field = "field" + std::to_string(event.lot.below(3));
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
      want(its, ReindexWish::kFinish, reindex.alias, Reindexes::Force::kNo);
    if (reindex.state != ReindexState::kFailed)
      return "the reindex of " + reindex.alias + " is " + std::string(name_of(reindex.state)) + ": " +
             reindex.reason;
  }
  return "";
}

}  // namespace lockstep::simulation
