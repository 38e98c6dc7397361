#include "replicator/pipeline/refresher.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "replicator/error.h"
#include "replicator/log/log_repeats.h"
#include "replicator/scheduler.h"

namespace lockstep {
namespace {

constexpr std::chrono::hours kUntilWoken{1};

}  // namespace

Refresher::Refresher(const AppliedPipeline& pipeline, std::unique_ptr<HttpTransport> transport,
                     std::chrono::milliseconds request_timeout, std::function<void()> on_finished)
    : on_finished_(std::move(on_finished)),
      elasticsearch_(std::move(transport), request_timeout),
      backoff_(Backoff::Limits{}, random_seed()) {
  for (const AppliedIndex& index : pipeline.indices) aliases_.emplace(index.id, index.target());
  thread_ = Thread([this](const std::stop_token& stop) { run(stop); });
}

Refresher::~Refresher() {
  thread_.request_stop();
  elasticsearch_.cancel();
  thread_.join();
}

void Refresher::add(StepId step, const std::set<IndexId>& indices) {
  {
    const MutexLock lock(mutex_);
    steps_.push_back(step);
    indices_.insert(indices.begin(), indices.end());
  }
  wake_up_.wake();
}

std::vector<StepId> Refresher::take_finished() {
  const MutexLock lock(mutex_);
  return std::exchange(finished_, {});
}

void Refresher::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<StepId> steps;
    std::set<IndexId> indices;
    {
      const MutexLock lock(mutex_);
      steps = std::exchange(steps_, {});
      indices = std::exchange(indices_, {});
    }
    if (steps.empty()) {
      wake_up_.wait(kUntilWoken, stop);
      continue;
    }
    WakeUp never_woken;
    while (!stop.stop_requested() && !refresh(indices)) never_woken.wait(backoff_.next(), stop);
    if (stop.stop_requested()) return;
    {
      const MutexLock lock(mutex_);
      finished_.insert(finished_.end(), steps.begin(), steps.end());
    }
    on_finished_();
  }
}

// False: try again.
bool Refresher::refresh(const std::set<IndexId>& indices) {
  std::vector<std::string> aliases;
  for (const IndexId index : indices) aliases.push_back(aliases_.at(index));
  try {
    elasticsearch_.refresh(aliases);
    backoff_.reset();
    last_logged_.clear();
    return true;
  } catch (const Error& error) {
    if (last_logged_ != error.what() && warn_of_trouble(error.what())) last_logged_ = error.what();
    return !error.retryable();
  }
}

}  // namespace lockstep
