#include "replicator/pipeline/tail.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace lockstep {
namespace {

std::vector<CapturedChange> of_index(const AppliedIndex& index, const std::vector<CapturedChange>& changes) {
  std::vector<CapturedChange> own;
  for (const CapturedChange& change : changes) {
    const bool tracked =
        std::any_of(index.tracks.begin(), index.tracks.end(),
                    [&](const AppliedTrack& track) { return track.capture == change.capture; });
    if (tracked) own.push_back(change);
  }
  return own;
}

}  // namespace

Tail::Tail(const Config& config, const AppliedPipeline& pipeline, const SetAside& set_aside, Source& source,
           DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions, Position position,
           std::function<void(Job)> add_job)
    : chunk_documents_(config.replication.chunk_documents),
      fan_out_threshold_(config.replication.fan_out_threshold),
      bulk_bytes_(static_cast<std::size_t>(config.elasticsearch.bulk_bytes)),
      pipeline_(pipeline),
      set_aside_(set_aside),
      source_(source),
      writer_(writer),
      checkpoint_(checkpoint),
      versions_(versions),
      add_job_(std::move(add_job)),
      position_(std::move(position)) {}

bool Tail::turn(const std::stop_token& stop) {
  // No transaction is opened that would have to wait for Elasticsearch: it would hold back the source's
  // vacuum.
  if (!writer_.has_room()) return false;
  if (slices_.empty() && !source_.may_have_changed(position_)) {
    at_end_ = true;
    return false;
  }
  std::vector<Job> new_jobs;
  std::unique_ptr<SourceTransaction> transaction = source_.begin();
  if (slices_.empty() && !read(*transaction, new_jobs)) return false;

  StepDocuments documents(versions_.epoch(), versions_.next(), bulk_bytes_);
  render(*transaction, documents);
  checkpoint_.settle(std::move(transaction));

  for (Job& job : new_jobs) add_job_(std::move(job));
  StepEnd end = slices_.empty() ? std::exchange(end_, StepEnd{}) : StepEnd{};
  if (!slices_.empty()) end.oldest_change = end_.oldest_change;
  writer_.submit(Lane::tail(), std::move(documents), std::move(end), stop);
  return true;
}

bool Tail::read(SourceTransaction& transaction, std::vector<Job>& new_jobs) {
  Changes changes = transaction.read_changes(position_, chunk_documents_);
  position_ = changes.next;
  at_end_ = !changes.more;
  if (changes.rows == 0) return false;
  if (!changes.more) ++batches_;
  end_.position = changes.next;
  end_.rows = changes.rows;
  end_.oldest_change = std::chrono::steady_clock::now() - changes.oldest_age;
  resolve(transaction, changes.captured, new_jobs);
  return true;
}

void Tail::resolve(SourceTransaction& transaction, const std::vector<CapturedChange>& changes,
                   std::vector<Job>& new_jobs) {
  for (const AppliedIndex& index : pipeline_.indices) {
    if (set_aside_.contains(index.id)) continue;  // it will be compared
    std::vector<CapturedChange> own = of_index(index, changes);
    const std::size_t all = own.size();
    std::erase_if(own, [](const CapturedChange& change) { return change.everything; });
    if (own.size() < all) {
      // The rows of a truncated table are gone; which documents they made can only be told by looking at all
      // of them.
      const std::string reason = "a tracked table was truncated";
      for (const JobKind kind : {JobKind::kBackfill, JobKind::kSweep}) {
        if (std::optional<Job> job = transaction.add_job(index.id, kind, reason))
          new_jobs.push_back(*std::move(job));
      }
    }
    if (own.empty()) continue;
    std::optional<Values> ids = transaction.resolve(index, own, fan_out_threshold_);
    if (!ids) {
      new_jobs.push_back(transaction.add_fan_out(index, own));
    } else if (!ids->empty()) {
      slices_.push_back({&index, *std::move(ids)});
    }
  }
}

void Tail::render(SourceTransaction& transaction, StepDocuments& documents) {
  while (!slices_.empty() && documents.bytes() < bulk_bytes_) {
    Slice& slice = slices_.front();
    const std::size_t count = std::min(slice.ids.size(), static_cast<std::size_t>(chunk_documents_));
    const Values ids(slice.ids.end() - static_cast<std::ptrdiff_t>(count), slice.ids.end());
    slice.ids.resize(slice.ids.size() - count);
    const Values left_over = transaction.render(
        *slice.index, ids, static_cast<std::int64_t>(bulk_bytes_ - documents.bytes()), documents.version(),
        [&](const RenderedDocument& document) { documents.add(*slice.index, document); });
    slice.ids.insert(slice.ids.end(), left_over.begin(), left_over.end());
    if (slice.ids.empty()) slices_.pop_front();
  }
}

}  // namespace lockstep
