#include "replicator/pipeline/progress.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lockstep {
namespace {

// The loop measures the lag several times a second. One that has not for so long hangs, or waits for a
// server, and its last knowledge does not cover the changes since then.
constexpr std::chrono::milliseconds kLagHolds{5'000};

}  // namespace

std::string_view to_string(PipelineState state) {
  switch (state) {
    case PipelineState::kConnecting:
      return "connecting";
    case PipelineState::kStandingBy:
      return "standing_by";
    case PipelineState::kBackfilling:
      return "backfilling";
    case PipelineState::kFollowing:
      return "following";
    case PipelineState::kWaitingForElasticsearch:
      return "waiting_for_elasticsearch";
    case PipelineState::kWaitingForSource:
      return "waiting_for_source";
  }
  throw std::logic_error("a pipeline state without a name");
}

bool replicates(PipelineState state) {
  return state == PipelineState::kBackfilling || state == PipelineState::kFollowing ||
         state == PipelineState::kWaitingForElasticsearch;
}

std::optional<PipelineState> pipeline_state(std::string_view word) {
  using enum PipelineState;
  for (const PipelineState state :
       {kConnecting, kStandingBy, kBackfilling, kFollowing, kWaitingForElasticsearch, kWaitingForSource}) {
    if (to_string(state) == word) return state;
  }
  return std::nullopt;
}

std::string why_it_waits(const ReplicationProgress& progress) {
  if (progress.reason.empty() || progress.slow_reading.empty())
    return progress.reason + progress.slow_reading;
  return progress.reason + "; " + progress.slow_reading;
}

std::int64_t documents_applied(const ReplicationProgress& progress) {
  std::int64_t sum = 0;
  for (const auto& [id, index] : progress.indices) sum += index.documents + index.deletes;
  return sum;
}

bool is_fresh(const ReplicationProgress& progress, std::chrono::milliseconds objective, SteadyTime now) {
  if (!replicates(progress.state)) return false;
  if (progress.lag > objective || now - progress.lag_known_at > std::max(objective, kLagHolds)) return false;
  return std::all_of(progress.indices.begin(), progress.indices.end(), [&](const auto& entry) {
    const IndexProgress& index = entry.second;
    const bool is_due = index.due && now - index.due_known_at + index.due->oldest_age > objective;
    return !index.set_aside && index.unreadable_jobs.empty() && !is_due &&
           std::none_of(index.jobs.begin(), index.jobs.end(), [&](const JobStatus& job) {
             return job.kind != JobKind::kBackfill && now - job.taken_up_at > objective;
           });
  });
}

std::string status_document(const ReplicationProgress& progress, double documents_per_second,
                            const std::optional<Freshness>& freshness) {
  nlohmann::ordered_json indices = nlohmann::ordered_json::object();
  for (const auto& [id, index] : progress.indices) {
    const auto due_rate = progress.due_rates.find(id);
    indices[index.alias] = {
        {"documents", index.documents},
        {"deletes", index.deletes},
        {"superseded", index.superseded},
        {"refused", index.refused},
        {"dead_letters", index.dead_letters},
        {"due_per_second", due_rate == progress.due_rates.end() ? 0.0 : due_rate->second}};
  }
  nlohmann::ordered_json jobs = nlohmann::ordered_json::object();
  for (const auto& [id, rate] : progress.job_rates)
    jobs[std::to_string(id.value)] = {{"documents_per_second", rate}};
  const double lag = std::chrono::duration<double>(progress.lag).count();
  nlohmann::ordered_json document = {
      {"epoch", progress.epoch.value},
      {"indices", indices},
      {"jobs", jobs},
      {"tail", {{"rows", progress.rows}, {"batches", progress.batches}, {"lag_seconds", lag}}},
      {"bulk", {{"in_flight", progress.bulks_in_flight}, {"retries", progress.bulk_retries}}},
      {"documents_per_second", documents_per_second},
      {"warnings", progress.warnings},
  };
  if (freshness) document["slo"] = freshness->json();
  // A database of encoding SQL_ASCII may give any bytes as the name of a table.
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void ProgressBoard::update(const std::function<void(ReplicationProgress&)>& change) {
  const MutexLock lock(mutex_);
  change(progress_);
}

ReplicationProgress ProgressBoard::read() const {
  const MutexLock lock(mutex_);
  return progress_;
}

ReadingNote::ReadingNote(ProgressBoard& board, Reading ReplicationProgress::*slot, const std::string& what)
    : board_(board), slot_(slot) {
  board_.update([&](ReplicationProgress& progress) { progress.*slot = {what, steady_now()}; });
}

ReadingNote::~ReadingNote() {
  board_.update([&](ReplicationProgress& progress) { progress.*slot_ = {}; });
}

}  // namespace lockstep
