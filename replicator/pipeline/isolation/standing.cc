#include "replicator/pipeline/isolation/standing.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "replicator/error.h"
#include "replicator/log/log.h"
#include "replicator/pipeline/document_writer.h"

namespace lockstep {
namespace {

using std::chrono::seconds;

constexpr seconds kFirstPause{10};
constexpr seconds kLongestPause{300};

// Of an index that is paused or slow to read: then a comparison is less work than the due documents.
constexpr int kMostChunks = 500;

seconds doubled(seconds first, seconds longest, int times) {
  return std::min(longest, first * (1 << std::min(times, 6)));
}

}  // namespace

Standing::Standing(const AppliedPipeline& pipeline, ChangeLog& changes, Epoch epoch, World world,
                   Patience patience)
    : pipeline_(pipeline),
      changes_(changes),
      epoch_(epoch),
      is_slow_to_write_(std::move(world.is_slow_to_write)),
      is_due_since_(std::move(world.is_due_since)),
      most_behind_slow_write_(patience.most_behind_slow_write),
      held_(pipeline, std::move(world.transport), std::move(world.on_released), patience.ask_again) {
  for (const AppliedIndex& index : pipeline.indices) {
    if (!index.set_aside) continue;
    paused_.insert(index.id);
    pauses_[index.id].reason = *index.set_aside;
  }
}

void Standing::Absence::begin(const std::string& why, SteadyTime now, seconds in_vain_within) {
  const bool in_vain = returned_at != SteadyTime{} && now - returned_at < in_vain_within;
  failures = in_vain ? failures + 1 : 0;
  reason = why;
  since = now;
}

Standing::Kind Standing::of(IndexId index) const {
  if (paused_.contains(index)) return Kind::kPaused;
  if (held_.contains(index) || slow_to_read_.contains(index) || is_slow_to_write_(index))
    return Kind::kDeferred;
  return Kind::kFollowed;
}

std::string Standing::reason(IndexId index) const {
  if (paused_.contains(index)) return pauses_.at(index).reason;
  if (std::string held = held_.reason(index); !held.empty()) return held;
  if (slow_to_read_.contains(index)) return readings_.at(index).reason;
  return is_slow_to_write_(index) ? std::string(kSlowIndex) : "";
}

std::string Standing::paused_text() const {
  std::string text;
  for (const IndexId index : paused_)
    text += (text.empty() ? "" : "; ") + alias(index) + ": " + pauses_.at(index).reason;
  return text;
}

// --- reasons to defer an index ---

void Standing::note_too_slow(const ViewTooSlow& why, SteadyTime now) {
  readings_[why.index()].begin(why.what(), now, kLongestPauseOfReading);
  slow_to_read_.insert(why.index());
  const LogField field("index", alias(why.index()));
  spdlog::warn("index {}: its changes become due for a while, the others continue: {}", alias(why.index()),
               why.what());
}

std::optional<std::string> Standing::defer_chunk(IndexId index) {
  const bool is_held = held_.contains(index);
  const bool is_slow_to_write = !is_held && !slow_to_read_.contains(index);
  if (++chunks_[index] <= (is_slow_to_write ? most_behind_slow_write_ : kMostChunks)) return std::nullopt;
  return (is_held ? "Elasticsearch took none of many changes: " : "many changes came meanwhile: ") +
         reason(index);
}

void Standing::release(SteadyTime now) {
  std::erase_if(slow_to_read_, [&](IndexId index) {
    Absence& reading = readings_.at(index);
    const seconds pause = doubled(kFirstPauseOfReading, kLongestPauseOfReading, reading.failures);
    if (now - reading.since < pause || is_due_since_(index, reading.since)) return false;
    reading.returned_at = now;
    const LogField field("index", alias(index));
    spdlog::info("index {}: its changes are followed at once again", alias(index));
    return true;
  });
}

// --- reasons to pause it ---

void Standing::pause(IndexId id, const std::string& reason) {
  const std::unique_ptr<SourceTransaction> transaction = changes_.begin(epoch_);
  transaction->set_aside(id, reason);
  transaction->commit();
  note_paused(id, reason);
}

void Standing::keep_paused(IndexId id, const std::string& reason) {
  kept_.insert(id);
  if (!paused_.contains(id)) {
    pause(id, reason);
  } else if (pauses_.at(id).reason != reason) {
    restate(*pipeline_.find(id), reason);
  }
}

void Standing::note_paused(IndexId index, const std::string& reason) {
  pauses_[index].begin(reason, steady_now(), kLongestPause);
  paused_.insert(index);
  const LogField field("index", alias(index));
  spdlog::warn("index {} is paused, the others continue: {}", alias(index), reason);
}

// The tail follows the index again before the comparison is added: the changes that the tail left out were
// committed before that, and the comparison sees them.
Committed Standing::take_back_readable(SteadyTime now) {
  Committed comparisons;
  if (paused_.empty()) return comparisons;
  const UnfinishedJobs jobs = changes_.jobs();
  for (const AppliedIndex& index : pipeline_.indices) {
    if (!is_paused(index.id) || kept_.contains(index.id) || held_.contains(index.id)) continue;
    Absence& pause = pauses_.at(index.id);
    if (pause.failures > 0 && now - pause.since < doubled(kFirstPause, kLongestPause, pause.failures))
      continue;
    if (const std::optional<std::string> why = obstacle(index, jobs)) {
      if (*why != pause.reason) restate(index, *why);
      continue;
    }
    pause.returned_at = now;
    const LogField field("index", index.alias);
    spdlog::info("index {}: it can be read again; it is followed and compared", index.alias);
    paused_.erase(index.id);
    const std::unique_ptr<SourceTransaction> transaction = changes_.begin(epoch_);
    transaction->take_back(index.id);
    for (const JobKind kind : {JobKind::kComparison, JobKind::kSweep})
      transaction->add_job(index.id, kind, "it was paused: " + pause.reason);
    std::ranges::move(transaction->commit().jobs, std::back_inserter(comparisons.jobs));
  }
  return comparisons;
}

std::optional<std::string> Standing::obstacle(const AppliedIndex& index, const UnfinishedJobs& jobs) {
  const auto job = std::find_if(jobs.unreadable.begin(), jobs.unreadable.end(),
                                [&](const UnreadableJob& each) { return each.index == index.id; });
  if (job != jobs.unreadable.end()) return job->why;
  try {
    changes_.read()->require_readable(index);
    return std::nullopt;
  } catch (const ViewError& error) {
    return error.what();
  } catch (const ViewTooSlow& error) {
    return error.what();
  }
}

void Standing::restate(const AppliedIndex& index, const std::string& reason) {
  const LogField field("index", index.alias);
  spdlog::warn("index {} stays paused: {}", index.alias, reason);
  const std::unique_ptr<SourceTransaction> transaction = changes_.begin(epoch_);
  transaction->take_back(index.id);
  transaction->set_aside(index.id, reason);
  transaction->commit();
  pauses_.at(index.id).reason = reason;
}

}  // namespace lockstep
