#include "replicator/service/sampler.h"

#include "replicator/pause.h"

namespace lockstep {

std::optional<History::Sample> sample_of(const ReplicationProgress& progress) {
  switch (progress.state) {
    case PipelineState::kConnecting:
    case PipelineState::kWaitingForSource:
      return std::nullopt;
    case PipelineState::kStandingBy:
      if (!progress.unled.empty()) return std::nullopt;
      return History::Sample{progress.lag, std::nullopt};
    case PipelineState::kBackfilling:
    case PipelineState::kFollowing:
    case PipelineState::kWaitingForElasticsearch:
      break;
  }
  return History::Sample{progress.lag, documents_applied(progress)};
}

Sampler::Sampler(ProgressBoard& board, const Clock& clock, History& history, FreshnessKeeper* freshness,
                 std::chrono::milliseconds interval)
    : board_(board),
      clock_(clock),
      history_(history),
      freshness_(freshness),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Sampler::run(const std::stop_token& stop) const {
  while (!stop.stop_requested()) {
    const ReplicationProgress progress = board_.read();
    const WallTime now = std::chrono::system_clock::now();
    if (const auto sample = sample_of(progress)) history_.add(now, *sample);
    if (freshness_ != nullptr) keep_freshness(progress, now);
    pause(interval_, stop);
  }
}

// While it stands by, StandbyWatch puts the leader's report on the board.
void Sampler::keep_freshness(const ReplicationProgress& progress, WallTime now) const {
  if (replicates(progress.state)) freshness_->note(progress, clock_.now(), now);
  const std::optional<FreshnessReport> report = freshness_->report(now);
  board_.update([&](ReplicationProgress& told) {
    if (told.state != PipelineState::kStandingBy) told.freshness = report;
  });
}

}  // namespace lockstep
