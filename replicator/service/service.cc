#include "replicator/service/service.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/pipeline/waiter.h"
#include "replicator/service/heartbeat.h"
#include "replicator/service/http_endpoint.h"
#include "replicator/service/leadership_loop.h"
#include "replicator/service/standby_watch.h"
#include "replicator/service/status_publisher.h"
#include "replicator/service/systemd.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kHeartbeat{1'000};

}  // namespace

void run_service(const Config& config, RunUntil until, ProgressBoard& board, const std::stop_token& stop) {
  const SystemClock clock;
  board.update(
      [&](ReplicationProgress& progress) { progress.turned_at = progress.advanced_at = clock.now(); });
  // First, since this throws if the configuration is wrong.
  const BulkWriter::TransportFactory transports = make_transport_factory(config.elasticsearch);

  std::vector<std::string> aliases;
  for (const IndexConfig& index : config.indices) aliases.push_back(index.alias);
  Waiter waiter([&] { return open_applied_watch(config); }, transports, aliases,
                config.elasticsearch.request_timeout);
  std::optional<HttpEndpoint> http;
  if (!config.http.listen.empty()) {
    http.emplace(config.http.listen, config.pipeline, board, clock, &waiter);
    spdlog::info("metrics, health and status on port {} ({})", http->port(), config.http.listen);
  }
  const Heartbeat heartbeat(board, clock, kHeartbeat);
  const StandbyWatch standby([&] { return open_status_reader(config); }, board, clock, {});
  const StatusPublisher publisher([&] { return open_status_writer(config); }, board, clock, {});
  const std::stop_callback on_stop(stop, [] {
    spdlog::info("stopping: finishing what is in flight");
    systemd::notify_stopping();
  });

  using OnRefusal = LeadershipLoop::Parts::OnRefusal;
  LeadershipLoop loop({.open_source = [&] { return open_source(config, "tail"); },
                       .replicate =
                           [&](Source& source, const std::stop_token& inner) {
                             replicate(config, source, transports, board, until, inner);
                           },
                       .on_up = systemd::notify_ready,
                       .on_refusal = until == RunUntil::kStopped ? OnRefusal::kKeepTrying : OnRefusal::kEnd},
                      board, clock);
  loop.run(stop);
  spdlog::info("pipeline {} has stopped", config.pipeline);
}

}  // namespace lockstep
