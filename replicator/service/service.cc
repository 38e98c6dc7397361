#include "replicator/service/service.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "replicator/clock.h"
#include "replicator/pipeline/waiter.h"
#include "replicator/service/certificate_watch.h"
#include "replicator/service/freshness_keeper.h"
#include "replicator/service/heartbeat.h"
#include "replicator/service/history.h"
#include "replicator/service/http_endpoint.h"
#include "replicator/service/leadership_loop.h"
#include "replicator/service/no_leader_reason.h"
#include "replicator/service/sampler.h"
#include "replicator/service/standby_watch.h"
#include "replicator/service/status_page.h"
#include "replicator/service/status_publisher.h"
#include "replicator/service/systemd.h"
#include "replicator/service/watched_status.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kHeartbeat{1'000};

}  // namespace

void run_service(const LiveConfig& live, RunUntil until, ProgressBoard& board, const std::stop_token& stop) {
  const SystemClock clock;
  const Config config = *live.values().config;  // for the values that a reload does not change
  const auto current = [&live] { return live.values().config; };
  const auto open_reader = [&] { return open_status_reader(*current()); };
  board.update(
      [&](ReplicationProgress& progress) { progress.turned_at = progress.advanced_at = clock.now(); });
  Waiter::Searched searched{config.pipeline, {}};
  for (const IndexConfig& index : config.indices) searched.aliases.push_back(index.alias);
  Waiter waiter([&] { return open_applied_watch(*current()); },
                [&] { return live.values().make_transport(); }, searched,
                config.elasticsearch.request_timeout, words_of_waits(open_reader));
  History history;
  std::optional<FreshnessKeeper> freshness;
  if (config.slo.lag.count() > 0) freshness.emplace(config.slo.lag);
  FreshnessKeeper* const keeper = freshness ? &*freshness : nullptr;
  const Sampler sampler(board, clock, history, keeper, kHeartbeat);
  WatchedStatus watched(open_reader, clock, {});
  const StatusPage page(config.pipeline, board, clock, history, watched);
  const CertificateWatch certificates(
      [&] { return current()->elasticsearch.urls; },
      [&](const std::string& url) { return server_certificate(url, current()->elasticsearch); }, {});
  std::optional<HttpEndpoint> http;
  if (!config.http.listen.empty()) {
    http.emplace(config.http.listen, config.pipeline, board, clock,
                 HttpEndpoint::Parts{&page, &certificates, &waiter});
    spdlog::info("metrics, health and status on port {} ({})", http->port(), config.http.listen);
  }
  const Heartbeat heartbeat(board, clock, kHeartbeat);
  const StandbyWatch standby(open_reader, board, clock, {});
  const StatusPublisher publisher([&] { return open_status_writer(*current()); }, board, clock, {},
                                  {keeper, open_reader});
  const std::stop_callback on_stop(stop, [] {
    spdlog::info("stopping: finishing the requests in flight");
    systemd::notify_stopping();
  });

  using OnRefusal = LeadershipLoop::Parts::OnRefusal;
  LiveConfig::Values values;  // of this round; of the loop alone
  std::optional<QuietEnd> last_end;
  LeadershipLoop loop({.open_source =
                           [&] {
                             values = live.values();
                             return open_source(*values.config, "tail");
                           },
                       .replicate =
                           [&](Source& source, const std::stop_token& stopped) {
                             std::stop_source end;
                             const auto ask_to_end = [&] { end.request_stop(); };
                             const std::stop_callback at_stop(stopped, ask_to_end);
                             const std::stop_callback at_reload(values.replaced, ask_to_end);
                             Leader({*values.config, source, values.make_transport, board, clock, &last_end})
                                 .run(until, end.get_token());
                           },
                       .reloaded = [&] { return values.replaced.stop_requested(); },
                       .on_refusal = until == RunUntil::kStopped ? OnRefusal::kKeepTrying : OnRefusal::kEnd},
                      board, clock);
  loop.run(stop);
  spdlog::info("pipeline {} has stopped", config.pipeline);
}

}  // namespace lockstep
