#include "replicator/pipeline/foreign_writes.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/log/log.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/pipeline/repair/view_page.h"

namespace lockstep {
namespace {

constexpr std::chrono::minutes kNothingNoted{1};

// Looked at together. Further ones are noted again when their job meets the version again.
constexpr std::size_t kMostDocuments = 500;

}  // namespace

ForeignWrites::ForeignWrites(const AppliedPipeline& pipeline, Epoch epoch, ProgressBoard& board,
                             std::unique_ptr<HttpTransport> transport,
                             std::chrono::milliseconds request_timeout, std::function<void()> on_found)
    : pipeline_(pipeline),
      epoch_(epoch),
      board_(board),
      on_found_(std::move(on_found)),
      elasticsearch_(std::move(transport), request_timeout),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

ForeignWrites::~ForeignWrites() {
  thread_.request_stop();
  elasticsearch_.cancel();
  thread_.join();
}

void ForeignWrites::note(IndexId index, const FoundDocument& document, RecentWrites::Owner owner) {
  {
    const MutexLock lock(mutex_);
    Noted& noted = to_look_at_[index];
    if (noted.size() >= kMostDocuments) return;
    noted.emplace(document, owner);
  }
  wake_up_.wake();
}

std::optional<ForeignVersion> ForeignWrites::take_greatest() {
  const MutexLock lock(mutex_);
  return std::exchange(greatest_, std::nullopt);
}

void ForeignWrites::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    wake_up_.wait(kNothingNoted, stop);
    if (!stop.stop_requested()) look();
  }
}

void ForeignWrites::look() {
  std::map<IndexId, Noted> all;
  {
    const MutexLock lock(mutex_);
    all = std::exchange(to_look_at_, {});
  }
  for (const auto& [index, noted] : all) {
    try {
      look_at(*pipeline_.find(index), noted);
    } catch (const Error& error) {
      // The job notes them again.
      spdlog::debug("foreign writes: {}", error.what());
    }
  }
}

void ForeignWrites::look_at(const AppliedIndex& index, const Noted& noted) {
  std::vector<FoundDocument> documents;
  for (const auto& [document, owner] : noted) documents.push_back(document);
  const std::vector<DocumentLocation> locations = locations_of(documents);
  const std::vector<std::optional<StoredVersion>> versions =
      stored_versions(elasticsearch_, index.target(), locations);
  std::optional<ForeignVersion> greatest;
  std::int64_t foreign = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::optional<StoredVersion>& stored = versions[i];
    const bool is_of_later_epoch = stored && stored->version.epoch() > epoch_;
    const bool is_beyond_reach = is_of_later_epoch && stored->version > kMostOvertaken;
    if (stored && !is_beyond_reach)
      greatest = std::max(greatest, std::optional(ForeignVersion{stored->version, index.id}));
    const bool is_foreign =
        is_beyond_reach ? remove_beyond_reach(index, locations[i], *stored) : !is_of_later_epoch;
    if (is_foreign && noted.at(documents[i]) == RecentWrites::Owner::kOthers) ++foreign;
  }
  if (foreign > 0) report(index.id, foreign);
  if (!greatest) return;
  {
    const MutexLock lock(mutex_);
    greatest_ = std::max(greatest_, greatest);
  }
  on_found_();
}

// A later leader marks the index before it writes: without its mark such a version is no leader's.
bool ForeignWrites::remove_beyond_reach(const AppliedIndex& index, const DocumentLocation& document,
                                        const StoredVersion& stored) {
  if (marked_index(elasticsearch_, index.target(), sought_index(index)).mark.epoch > epoch_) return false;
  const LogField field("index", index.alias);
  spdlog::warn(
      "index {}: something else has written a document with the version {}, which no version of lockstep's "
      "can follow; it is removed, and comes back when Elasticsearch has forgotten that (index.gc_deletes)",
      index.alias, stored.version.value());
  remove_if_unchanged(elasticsearch_, index.target(), document, stored);
  return true;
}

void ForeignWrites::report(IndexId index, std::int64_t foreign) {
  board_.update([&](ReplicationProgress& progress) { progress.indices[index].foreign += foreign; });
  {
    const MutexLock lock(mutex_);
    const SteadyTime now = steady_now();
    const auto warned = warned_at_.find(index);
    if (warned != warned_at_.end() && now - warned->second < kInterval) return;
    warned_at_[index] = now;
  }
  const LogField field("index", pipeline_.find(index)->alias);
  spdlog::warn(
      "index {}: something else writes into it: a document has a version that Lockstep has not given. "
      "Lockstep writes the view's document over it. Find the other program, revoke its privilege, and run "
      "`lockstep verify --repair`, which finds the other documents that it changed or deleted",
      pipeline_.find(index)->alias);
}

}  // namespace lockstep
