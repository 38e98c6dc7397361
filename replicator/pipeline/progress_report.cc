#include "replicator/pipeline/progress_report.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "replicator/clock.h"
#include "replicator/source/outbox/full_outbox.h"
#include "replicator/warnings.h"

namespace lockstep {

using namespace std::chrono_literals;

ProgressReport::ProgressReport(Parts parts, Epoch epoch, ProgressBoard& board)
    : parts_(parts),
      epoch_(epoch),
      board_(board),
      rows_before_(board.read().rows),
      batches_before_(board.read().batches) {
  board_.update([&](ReplicationProgress& progress) {
    std::erase_if(progress.indices,
                  [&](const auto& entry) { return parts_.pipeline.find(entry.first) == nullptr; });
  });
}

std::int64_t ProgressReport::count_dead_letters(IndexId index) {
  DeadLetterFilter all;
  all.indices = {index};
  const std::int64_t count = parts_.source.dead_letters().count(all);
  if (count == 0)
    parts_.writer.news().expect_no_dead_letters(index);
  else
    parts_.writer.news().expect_dead_letters(index);
  board_.update([&](ReplicationProgress& progress) { progress.indices[index].dead_letters = count; });
  return count;
}

void ProgressReport::note_saved(const Acknowledged& saved) {
  for (const DeadLetter& letter : saved.refused) to_count_.insert(letter.index);
  for (const AcknowledgedWrite& write : saved.no_longer_refused) to_count_.insert(write.index);
}

void ProgressReport::recount_dead_letters() {
  for (const auto& [id, index] : board_.read().indices) {
    if (index.dead_letters > 0) to_count_.insert(id);
  }
}

void ProgressReport::note_unreadable(const std::vector<UnreadableJob>& jobs) {
  board_.update([&](ReplicationProgress& progress) {
    for (const AppliedIndex& index : parts_.pipeline.indices) {
      IndexProgress& told = progress.indices[index.id];
      told.alias = index.alias;
      told.unreadable_jobs.clear();
      for (const UnreadableJob& job : jobs) {
        if (job.index == index.id) told.unreadable_jobs.push_back(job.id);
      }
    }
  });
}

void ProgressReport::measure_outbox() {
  const std::int64_t bytes = parts_.source.outbox().size();
  board_.update([&](ReplicationProgress& progress) { progress.outbox_bytes = bytes; });
}

void ProgressReport::note_troubles(const std::vector<std::string>& misplaced) {
  std::vector<std::string> troubles = misplaced;
  std::ranges::move(parts_.jobs.troubles(), std::back_inserter(troubles));
  BulkWriterState bulks = parts_.bulks.state();
  if (!bulks.unanswered.empty()) troubles.push_back(std::move(bulks.unanswered));
  for (const IndexId index : bulks.slow)
    troubles.push_back(warning("slow_to_write", {parts_.pipeline.find(index)->alias}));
  if (troubles == troubles_) return;
  troubles_ = std::move(troubles);
  find_differences();
}

void ProgressReport::find_differences() {
  std::vector<std::string> warnings = parts_.source.outbox().differences_from_applied();
  warnings.insert(warnings.end(), troubles_.begin(), troubles_.end());
  const auto jobs = parts_.jobs.progress();
  if (parts_.source.outbox().has_given_up() || std::any_of(jobs.begin(), jobs.end(), [](const auto& job) {
        return job.second.reason == kOutboxWasFull;
      })) {
    warnings.push_back(warning("outbox_was_full", {}));
  }
  const ReplicationProgress before = board_.read();
  for (const CaptureId capture : before.unknown_captures) {
    warnings.push_back(warning("unknown_capture", {std::to_string(capture.value)}));
  }
  const std::vector<std::string>& known = before.warnings;
  for (const std::string& each : warnings) {
    if (std::find(known.begin(), known.end(), each) == known.end()) spdlog::warn("{}", each);
  }
  board_.update([&](ReplicationProgress& progress) { progress.warnings = std::move(warnings); });
}

void ProgressReport::update() {
  const SteadyTime now = steady_now();
  for (const IndexId index : std::exchange(to_count_, {})) count_dead_letters(index);
  const BulkWriterState bulks = parts_.bulks.state();
  const Acknowledgements& acknowledgements = parts_.writer.acknowledgements();
  const std::optional<SteadyTime> oldest = acknowledgements.oldest_change();
  const auto jobs = parts_.jobs.progress();
  const bool backfilling = std::any_of(jobs.begin(), jobs.end(),
                                       [](const auto& job) { return job.second.kind == JobKind::kBackfill; });
  const bool rest = std::ranges::all_of(jobs, [](const auto& job) { return job.second.rests; });
  const std::string held = parts_.standing.held_text();
  const DocumentWriter::Delays delays = parts_.writer.take_delays();
  bool is_any_due = false;
  board_.update([&](ReplicationProgress& progress) {
    progress.state = bulks.waiting || !held.empty() ? PipelineState::kWaitingForElasticsearch
                     : backfilling                  ? PipelineState::kBackfilling
                                                    : PipelineState::kFollowing;
    progress.reason = held.empty() ? bulks.reason : held;
    progress.epoch = epoch_;
    for (const AppliedIndex& index : parts_.pipeline.indices) {
      IndexProgress& told = progress.indices[index.id];
      told.alias = index.alias;
      told.set_aside = parts_.standing.is_paused(index.id);
      told.jobs.clear();
      told.pending = parts_.writer.pending(index.id);
      const DueWork& due = parts_.jobs.due(index.id);
      told.due = due.list();
      told.due_known_at = due.list_known_at();
      told.due_written = due.rendered();
      is_any_due = is_any_due || due.is_due();
    }
    for (const auto& [index, job] : jobs) {
      JobStatus& told = progress.indices[index].jobs.emplace_back(job);
      told.waits = told.waits || bulks.waiting;
    }
    progress.acknowledged += delays.acknowledged;
    progress.searchable += delays.searchable;
    progress.rows = rows_before_ + acknowledgements.rows();
    progress.batches = batches_before_ + parts_.tail.batches();
    for (const std::set<CaptureId>& unknown :
         {parts_.tail.unknown_captures(), parts_.jobs.unknown_captures()})
      progress.unknown_captures.insert(unknown.begin(), unknown.end());
    progress.pending = oldest.has_value() || !parts_.tail.idle() || !parts_.tail.at_end();
    progress.lag = oldest ? std::chrono::duration_cast<std::chrono::microseconds>(now - *oldest) : 0us;
    progress.lag_known_at = now;
    progress.turned_at = now;
    if (!progress.pending && rest && !is_any_due) progress.advanced_at = now;
  });
}

}  // namespace lockstep
