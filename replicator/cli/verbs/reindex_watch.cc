#include "replicator/cli/verbs/reindex_watch.h"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "replicator/cli/text/status_text.h"
#include "replicator/error.h"
#include "replicator/pause.h"
#include "replicator/service/leader_report.h"
#include "replicator/service/no_leader_reason.h"
#include "replicator/source/open_source.h"
#include "replicator/source/reindexes.h"

namespace lockstep {
namespace {

constexpr std::chrono::milliseconds kPollReindex{200};
constexpr std::chrono::seconds kReloading{
    3};  // a leader that loads the pipeline again is no leader meanwhile

}  // namespace

ReindexWatch::ReindexWatch(const Config& config, Of of) : of_(of), status_(open_status_reader(config)) {}

ReindexWatch::End ReindexWatch::until(const std::string& alias,
                                      const std::function<bool(const ReindexStatus&)>& is_so) {
  while (!signals_.token().stop_requested()) {
    const std::optional<PipelineStatus> status = read(alias);
    if (!status) throw Error({"watching the reindex of " + alias, "the pipeline is no longer applied"});
    const auto found = std::find_if(status->reindexes.begin(), status->reindexes.end(),
                                    [&](const ReindexStatus& each) { return each.alias == alias; });
    if (found == status->reindexes.end()) {
      line_.clear();
      return {End::Kind::kOver};
    }
    if (is_so(*found)) {
      line_.clear();
      return {End::Kind::kSo, *found};
    }
    if (found->state == name_of(ReindexState::kFailed) && found->wanted.empty())
      throw Error(
          {"reindexing " + alias, found->failure,
           "fix the cause and start it again, or end it with `lockstep reindex --abort " + alias + "`"});
    if (!found->reason.empty()) tell(told_reason_, found->reason);
    const SteadyTime now = std::chrono::steady_clock::now();
    if (!status->lead.empty()) unled_since_.reset();
    if (status->lead.empty() && !unled_since_) unled_since_ = now;
    const bool is_unled = unled_since_ && now - *unled_since_ > kReloading;
    if (is_unled && of_ == Of::kWish && !is_running(*status)) {
      line_.clear();
      return {End::Kind::kUnled, {}, no_leader_reason(status)};
    }
    if (is_unled) tell(told_unled_, "it continues when there is a leader: " + no_leader_reason(status));
    show(*found, *status);
    pause(kPollReindex, signals_.token());
  }
  throw Error({"watching the reindex of " + alias, "interrupted",
               of_ == Of::kNew
                   ? "the service continues it: see `lockstep status`, or take it back with --abort"
                   : "the request is stored, and the service carries it out: see `lockstep status`"});
}

std::optional<PipelineStatus> ReindexWatch::read(const std::string& alias) {
  try {
    return status_->read();
  } catch (const Error& error) {
    throw Error({"watching the reindex of " + alias, error.what(),
                 "the service continues it when it can: see `lockstep status`"});
  }
}

void ReindexWatch::show(const ReindexStatus& reindex, const PipelineStatus& status) {
  std::string line = "reindex " + reindex_text(reindex);
  for (const IndexStatus& index : status.indices) {
    if (index.alias != reindex.beside || index.jobs.empty()) continue;
    const IndexStatus::Job& job = index.jobs.front();
    rate_.add(std::chrono::steady_clock::now(), job.done);
    if (job.total && *job.total > 0) {
      line = reindex.alias + ": " + reindex.state + " " +
             progress_bar(job.done, std::max(*job.total, job.done), rate_.per_second());
    }
  }
  if (line_.due()) line_.show(line);
}

void ReindexWatch::tell(std::string& told, const std::string& text) {
  if (told == text) return;
  told = text;
  line_.clear();
  std::cerr << text << '\n';
}

}  // namespace lockstep
