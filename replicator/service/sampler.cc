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

Sampler::Sampler(const ProgressBoard& board, History& history, std::chrono::milliseconds interval)
    : board_(board),
      history_(history),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Sampler::run(const std::stop_token& stop) const {
  while (!stop.stop_requested()) {
    if (const auto sample = sample_of(board_.read())) history_.add(std::chrono::system_clock::now(), *sample);
    pause(interval_, stop);
  }
}

}  // namespace lockstep
