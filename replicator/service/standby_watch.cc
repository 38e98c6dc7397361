#include "replicator/service/standby_watch.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "replicator/pause.h"
#include "replicator/service/leader_report.h"

namespace lockstep {
namespace {

bool stands_by(const ReplicationProgress& progress) {
  return progress.state == PipelineState::kStandingBy;
}

// Whether to ask the source how the pipeline is: the loop does not go round, so it measures nothing. While it
// waits for the source itself, it cannot ask.
bool asks(const ReplicationProgress& progress) {
  if (progress.lag_known_at != SteadyTime{}) return false;
  return stands_by(progress) || progress.state == PipelineState::kWaitingForElasticsearch || progress.leads;
}

void tell_work(const PipelineStatus& status, ReplicationProgress& progress) {
  progress.pending = status.pending_rows > 0;
  progress.lag = status.pending_age;
  progress.outbox_bytes = status.outbox_bytes;
  progress.outbox_max_bytes = status.max_outbox_bytes.value_or(0);
  std::erase_if(progress.indices, [&](const auto& entry) {
    return std::ranges::find(status.indices, entry.first, &IndexStatus::id) == status.indices.end();
  });
  for (const IndexStatus& index : status.indices) {
    IndexProgress& told = progress.indices[index.id];
    told.alias = index.alias;
    told.dead_letters = index.dead_letters;
    told.set_aside = index.set_aside.has_value();
  }
}

/// Returns the warnings that are new.
std::vector<std::string> tell_leader(const PipelineStatus& status, std::vector<std::string> warnings,
                                     ReplicationProgress& progress) {
  const std::vector<std::string> known = std::exchange(progress.warnings, std::move(warnings));
  std::vector<std::string> fresh;
  std::ranges::copy_if(progress.warnings, std::back_inserter(fresh), [&](const std::string& warning) {
    return std::find(known.begin(), known.end(), warning) == known.end();
  });
  progress.freshness = freshness_of(status);
  progress.leader_state = is_running(status) ? pipeline_state(status.leader->state) : std::nullopt;
  progress.leader_reason = progress.leader_state ? status.leader->reason : "";
  return fresh;
}

}  // namespace

StandbyWatch::StandbyWatch(std::function<std::unique_ptr<StatusReader>()> open_reader, ProgressBoard& board,
                           const Clock& clock, Intervals intervals)
    : open_reader_(std::move(open_reader)),
      board_(board),
      clock_(clock),
      intervals_(intervals),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void StandbyWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (asks(board_.read())) {
      note(look());
    } else {
      reader_.reset();
      unled_since_.reset();
    }
    pause(intervals_.look, stop);
  }
}

std::string StandbyWatch::look() {
  try {
    if (!reader_) reader_ = open_reader_();
    const std::optional<PipelineStatus> status = reader_->read();
    if (!status) return "the pipeline has not been applied";
    std::vector<std::string> warnings = warnings_of(*status);
    std::vector<std::string> fresh;
    board_.update([&](ReplicationProgress& progress) {
      if (asks(progress)) tell_work(*status, progress);
      if (stands_by(progress)) fresh = tell_leader(*status, std::move(warnings), progress);
    });
    for (const std::string& warning : fresh) spdlog::warn("the leader warns: {}", warning);
    return is_running(*status) ? "" : reason_of(*status);
  } catch (const std::exception& error) {
    reader_.reset();
    return std::string("the pipeline's status cannot be read: ") + error.what();
  }
}

void StandbyWatch::note(const std::string& trouble) {
  const SteadyTime now = clock_.now();
  if (trouble.empty())
    unled_since_.reset();
  else if (!unled_since_)
    unled_since_ = now;
  const bool is_told = unled_since_ && now - *unled_since_ >= intervals_.grace;
  bool is_new = false;
  board_.update([&](ReplicationProgress& progress) {
    if (!stands_by(progress) || progress.leads) return;
    is_new = is_told && progress.unled.empty();
    progress.unled = is_told ? trouble : "";
  });
  if (is_new) spdlog::warn("no process runs this pipeline: {}", trouble);
}

}  // namespace lockstep
