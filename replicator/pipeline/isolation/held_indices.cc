#include "replicator/pipeline/isolation/held_indices.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "replicator/log/log.h"
#include "replicator/scheduler.h"

namespace lockstep {
namespace {

using std::chrono::ceil;
using std::chrono::milliseconds;

constexpr milliseconds kProbeTimeout{5'000};
constexpr milliseconds kNobodyIsHeld{60'000};

}  // namespace

HeldIndices::HeldIndices(const AppliedPipeline& pipeline, std::unique_ptr<HttpTransport> transport,
                         std::function<void()> on_released, Backoff::Limits ask_again)
    : pipeline_(pipeline),
      transport_(std::move(transport)),
      on_released_(std::move(on_released)),
      ask_again_(ask_again),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

HeldIndices::~HeldIndices() {
  thread_.request_stop();
  transport_->cancel();
  thread_.join();
}

void HeldIndices::hold(const DocumentKey& document, const std::string& reason) {
  int times = 0;
  {
    const MutexLock lock(mutex_);
    if (held_.contains(document.index)) return;
    times = ++times_held_[document.index];
    Held held{document, reason, Backoff(ask_again_, random_seed()), steady_now(), {}};
    held.ask_at = held.since + held.backoff.next();
    held_.emplace(document.index, std::move(held));
  }
  const LogField field("index", pipeline_.find(document.index)->alias);
  // Counted, so that the log does not take it for a line that comes again.
  spdlog::warn("index {} takes no writes{}, the others continue: {}", pipeline_.find(document.index)->alias,
               times == 1 ? "" : fmt::format(" (time {} since this process leads)", times), reason);
  wake_up_.wake();
}

bool HeldIndices::contains(IndexId index) const {
  const MutexLock lock(mutex_);
  return held_.contains(index);
}

bool HeldIndices::empty() const {
  const MutexLock lock(mutex_);
  return held_.empty();
}

std::string HeldIndices::reason(IndexId index) const {
  const MutexLock lock(mutex_);
  const auto held = held_.find(index);
  return held == held_.end() ? "" : held->second.reason;
}

std::string HeldIndices::text() const {
  const MutexLock lock(mutex_);
  std::string text;
  for (const auto& [index, held] : held_) {
    if (!text.empty()) text += "; ";
    text += pipeline_.find(index)->alias + ": " + held.reason;
  }
  return text;
}

void HeldIndices::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) wake_up_.wait(ask_those_due(), stop);
}

milliseconds HeldIndices::ask_those_due() {
  std::vector<DocumentKey> due;
  {
    const MutexLock lock(mutex_);
    for (const auto& [index, held] : held_) {
      if (held.ask_at <= steady_now()) due.push_back(held.document);
    }
  }
  for (const DocumentKey& document : due) {
    take_answer(document.index,
                probe_write(*transport_, pipeline_.find(document.index)->target(), document, kProbeTimeout));
  }
  const MutexLock lock(mutex_);
  milliseconds pause = kNobodyIsHeld;
  for (const auto& [index, held] : held_)
    pause = std::min(pause, std::max(ceil<milliseconds>(held.ask_at - steady_now()), milliseconds(1)));
  return pause;
}

void HeldIndices::take_answer(IndexId index, const WriteProbe& probe) {
  SteadyTime since;
  {
    const MutexLock lock(mutex_);
    Held& held = held_.at(index);
    if (probe.answer != WriteProbe::Answer::kTaken) {
      if (probe.answer == WriteProbe::Answer::kHeld) held.reason = probe.reason;
      held.ask_at = steady_now() + held.backoff.next();
      return;
    }
    since = held.since;
    held_.erase(index);
  }
  const std::chrono::duration<double> lasted = steady_now() - since;
  const LogField field("index", pipeline_.find(index)->alias);
  spdlog::info("index {} takes writes again after {:.1f} s", pipeline_.find(index)->alias, lasted.count());
  on_released_();
}

}  // namespace lockstep
