#include "replicator/pipeline/leader_parts.h"

#include <memory>
#include <utility>
#include <vector>

#include "replicator/pipeline/late_writes.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr auto kTargetInterval = 10s;  // between looks whether the indices are still the same
// A request whose sender has died, in Elasticsearch's queues, as a rule: its time-out.
constexpr auto kWriteSurvives = 30s;

BulkWriter::Options bulk_options(const Config& config, const LeaderPatience& patience,
                                 const AppliedPipeline& pipeline, TargetWatch& targets) {
  BulkWriter::Options options;
  options.indices = pipeline.indices.size();
  for (const AppliedIndex& index : pipeline.indices) options.targets.push_back({index.id, index.target()});
  options.may_send = [&targets] { return targets.is_recent(); };
  options.bulks_in_flight = config.elasticsearch.bulks_in_flight;
  options.bulk_bytes = static_cast<std::size_t>(config.elasticsearch.bulk_bytes);
  options.request_timeout = config.elasticsearch.request_timeout;
  options.backoff = patience.bulk_backoff;
  options.slow_request = patience.slow_request;
  options.patience = patience.with_document;
  options.background_patience = patience.with_document;
  return options;
}

std::optional<QuietEnd> own_end(const LeaderWorld& world) {
  if (world.last_end == nullptr || !*world.last_end) return std::nullopt;
  return (*world.last_end)->epoch == world.source.lead().epoch() ? *world.last_end : std::nullopt;
}

EarlierWrites earlier_writes(const LeaderWorld& world, const LeaderPatience& patience) {
  if (patience.earlier_writes_land) return {*patience.earlier_writes_land, *patience.earlier_writes_land};
  const KnownPartners last = world.source.lead().known_partners();
  if (last.place.empty() || last.landed) return {};
  const std::optional<QuietEnd> own = own_end(world);
  const SteadyTime land = own ? own->late_writes_land : steady_now() + kLandsWithin;
  return {last.quiet ? SteadyTime{} : land - kLandsWithin + likely_within(world.config), land};
}

}  // namespace

std::chrono::milliseconds likely_within(const Config& config) {
  return config.elasticsearch.request_timeout + kWriteSurvives;
}

LeaderParts::LeaderParts(const LeaderWorld& of, const LeaderPatience& patience)
    : world(of),
      changes(world.source.changes()),
      pipeline(load_applied(world.config, world.source)),
      elasticsearch(world.make_transport(), world.config.elasticsearch.request_timeout),
      earlier(earlier_writes(world, patience)),
      lead(take_epoch(pipeline, world.source, elasticsearch)),
      versions(lead.epoch),
      targets(pipeline, versions.epoch(), world.source.lead().known_partners().targets,
              world.make_transport(), world.config.elasticsearch.request_timeout, kTargetInterval),
      bulks(bulk_options(world.config, patience, pipeline, targets), world.make_transport),
      writer(bulks, world.board, pipeline, world.clock, earlier.land),
      foreign(pipeline, versions.epoch(), world.board, world.make_transport(),
              world.config.elasticsearch.request_timeout, [this] { wake_up.wake(); }),
      checkpoint(pipeline, changes, writer, world.board, versions,
                 RefusedShare(world.config.replication.max_refused_share, pipeline)),
      standing(pipeline, changes, versions.epoch(),
               {world.make_transport(), [this] { wake_up.wake(); },
                [this](IndexId index) { return writer.holds_back(index, BulkPriority::kNormal); },
                [this](IndexId index, SteadyTime time) { return jobs.is_due_since(index, time); }},
               patience.with_index),
      jobs(
          world.config, pipeline, standing, changes, writer, checkpoint, versions, world.board,
          [make_transport = world.make_transport, timeout = world.config.elasticsearch.request_timeout] {
            return std::make_shared<ElasticsearchClient>(make_transport(), timeout);
          },
          earlier.likely_land, [this] { wake_up.wake(); }),
      tail(world.config, pipeline, standing, changes, writer, checkpoint, versions, world.board,
           [this](IndexId index) { return jobs.is_due(index); }),
      reindexing({world.config, pipeline, world.source, standing, jobs, world.board}, versions.epoch(),
                 world.make_transport(), [this] { wake_up.wake(); }),
      report({pipeline, world.source, bulks, writer, standing, jobs, tail}, versions.epoch(), world.board) {
  connect();
}

// The calls from one part to another.
void LeaderParts::connect() {
  bulks.on_finished([this] { wake_up.wake(); });
  if (world.config.replication.refresh == ReplicationConfig::Refresh::kAfterBatch) {
    refresher.emplace(pipeline, world.make_transport(), world.config.elasticsearch.request_timeout,
                      [this] { wake_up.wake(); });
    writer.refresh_with(*refresher);
  }
  writer.connect({.hear_held = [this](const DocumentKey& document,
                                      const std::string& reason) { standing.hold(document, reason); },
                  .hear_foreign =
                      [this](const DocumentKey& document, RecentWrites::Owner owner) {
                        foreign.note(document.index, {document.id, document.routing}, owner);
                      },
                  .hear_small_change = [this](std::chrono::microseconds took,
                                              std::size_t beside) { jobs.hear_small_change(took, beside); },
                  .is_due = [this](IndexId index) { return jobs.is_due(index); },
                  .page_goes_first = [this] { return jobs.page_goes_first(); }});
  checkpoint.on_added([this](Committed added) { jobs.add(std::move(added)); });
  for (const auto& [index, why] : lead.unfit) standing.keep_paused(index, why);
}

}  // namespace lockstep
