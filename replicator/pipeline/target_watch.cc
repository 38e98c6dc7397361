#include "replicator/pipeline/target_watch.h"

#include <utility>

namespace lockstep {

TargetWatch::TargetWatch(const AppliedPipeline& pipeline, Epoch epoch, std::map<int, std::string> targets,
                         std::unique_ptr<HttpTransport> transport, std::chrono::milliseconds request_timeout,
                         std::chrono::milliseconds interval)
    : pipeline_(pipeline),
      epoch_(epoch),
      targets_(std::move(targets)),
      interval_(interval),
      elasticsearch_(std::move(transport), request_timeout),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

TargetWatch::~TargetWatch() {
  thread_.request_stop();
  elasticsearch_.cancel();
  thread_.join();
}

void TargetWatch::note(const SourceMark& source) {
  const std::lock_guard lock(mutex_);
  to_note_ = source;
}

void TargetWatch::require_same_targets() {
  const std::lock_guard lock(mutex_);
  if (deposed_) throw Deposed("a later leader writes into the pipeline's indices");
  if (!replaced_.empty()) {
    throw Error({"following changes", "the index of " + replaced_ + " is another one now",
                 "both sides are looked at again", Retry::kLater});
  }
}

void TargetWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    never_woken_.wait(interval_, stop);
    if (stop.stop_requested()) return;
    try {
      look();
    } catch (const Error&) {
      // The bulk writer says what is wrong with Elasticsearch.
    }
  }
}

void TargetWatch::look() {
  std::optional<SourceMark> to_note;
  {
    const std::lock_guard lock(mutex_);
    to_note = std::exchange(to_note_, std::nullopt);
  }
  for (const AppliedIndex& index : pipeline_.indices) {
    const MarkedIndex marked = marked_index(elasticsearch_, index.alias);
    const auto target = targets_.find(index.id);
    const bool replaced = target != targets_.end() && target->second != marked.uuid;
    const bool deposed = marked.mark.epoch > epoch_;
    if (replaced || deposed) {
      const std::lock_guard lock(mutex_);
      if (replaced) replaced_ = index.alias;
      deposed_ = deposed_ || (deposed && !replaced);
      return;
    }
    if (to_note) set_index_writer(elasticsearch_, index.alias, epoch_, *to_note);
  }
}

}  // namespace lockstep
