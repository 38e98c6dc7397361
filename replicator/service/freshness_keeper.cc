#include "replicator/service/freshness_keeper.h"

#include <spdlog/spdlog.h>

#include <exception>

#include "replicator/quantity.h"

namespace lockstep {
namespace {

std::optional<Freshness> notes_of(const std::optional<LeaderReport>& last, WallTime now) {
  if (!last) return std::nullopt;
  try {
    return Freshness::published(last->document, last->age, now);
  } catch (const std::exception& error) {
    spdlog::warn("the record of how well slo.lag was met cannot be read, and begins again: {}", error.what());
    return std::nullopt;
  }
}

}  // namespace

FreshnessKeeper::FreshnessKeeper(std::chrono::milliseconds objective) : objective_(objective) {}

void FreshnessKeeper::go_on_from(const std::optional<LeaderReport>& last, WallTime now) {
  std::optional<Freshness> published = notes_of(last, now);
  if (published && published->objective() != objective_) {
    spdlog::info("slo.lag was {} and is {} now: the record of how well it is met begins again",
                 duration_text(published->objective()), duration_text(objective_));
    published.reset();
  }
  const MutexLock lock(mutex_);
  if (!notes_ || (published && notes_->until() < published->until()))
    notes_ = published ? std::move(*published) : Freshness(objective_, now);
  notes_->note(now, false);  // there was no leader since then
}

void FreshnessKeeper::note(const ReplicationProgress& progress, SteadyTime now, WallTime at) {
  const MutexLock lock(mutex_);
  if (notes_) notes_->note(at, is_fresh(progress, objective_, now));
}

std::optional<Freshness> FreshnessKeeper::notes() const {
  const MutexLock lock(mutex_);
  return notes_;
}

std::optional<FreshnessReport> FreshnessKeeper::report(WallTime now) const {
  const MutexLock lock(mutex_);
  return notes_ ? notes_->report(now) : std::nullopt;
}

}  // namespace lockstep
