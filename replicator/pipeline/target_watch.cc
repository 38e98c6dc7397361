#include "replicator/pipeline/target_watch.h"

#include <utility>

namespace lockstep {
namespace {

// index.gc_deletes, less the time that a request may take to arrive.
constexpr std::chrono::seconds kTrusted{25};

}  // namespace

TargetWatch::TargetWatch(const AppliedPipeline& pipeline, Epoch epoch, std::map<IndexId, std::string> targets,
                         std::unique_ptr<HttpTransport> transport, std::chrono::milliseconds request_timeout,
                         std::chrono::milliseconds interval)
    : pipeline_(pipeline),
      epoch_(epoch),
      targets_(std::move(targets)),
      interval_(interval),
      elasticsearch_(std::move(transport), request_timeout),
      looked_at_(std::chrono::steady_clock::now()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

TargetWatch::~TargetWatch() {
  thread_.request_stop();
  elasticsearch_.cancel();
  thread_.join();
}

void TargetWatch::note(const SourceMark& source) {
  const std::lock_guard lock(mutex_);
  to_note_ = source;
  is_noted_ = false;
}

void TargetWatch::note_now(const SourceMark& source, std::chrono::milliseconds at_most) {
  note(source);
  wake_up_.wake();
  std::unique_lock lock(mutex_);
  noted_.wait_for(lock, at_most, [&] { return is_noted_; });
}

void TargetWatch::require_same_targets() {
  const std::lock_guard lock(mutex_);
  if (later_) throw Deposed("a later leader writes into the pipeline's indices");
  if (usurped_) throw usurped_->error;
  if (!replaced_.empty()) {
    throw Error({"following changes", "the index of " + replaced_ + " has been replaced",
                 "checking both sides again", Retry::kLater});
  }
}

std::optional<IndexId> TargetWatch::usurped() {
  const std::lock_guard lock(mutex_);
  if (!usurped_) return std::nullopt;
  return usurped_->index;
}

std::optional<std::string> TargetWatch::place_of_later_leader() {
  const std::lock_guard lock(mutex_);
  return later_;
}

bool TargetWatch::is_recent() {
  {
    const std::lock_guard lock(mutex_);
    if (!later_ && !usurped_ && std::chrono::steady_clock::now() - looked_at_ < kTrusted) return true;
  }
  wake_up_.wake();
  return false;
}

void TargetWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    wake_up_.wait(interval_, stop);
    if (!stop.stop_requested()) look();
  }
}

void TargetWatch::look() {
  const SteadyTime begin = std::chrono::steady_clock::now();
  std::optional<SourceMark> to_note;
  {
    const std::lock_guard lock(mutex_);
    to_note = std::exchange(to_note_, std::nullopt);
  }
  bool noted = true;
  for (const AppliedIndex& index : pipeline_.indices) {
    try {
      if (!look_at(index)) return;
      if (to_note) noted = note_in(index, *to_note) && noted;
    } catch (const Error& error) {
      // The bulk writer reports it. Nobody can take the lead either while the alias or the mark is missing.
      if (error.retryable()) return note_later(to_note);
    }
  }
  if (!noted) note_later(to_note);
  const std::lock_guard lock(mutex_);
  looked_at_ = begin;
  is_noted_ = !to_note_;
  noted_.notify_all();
}

// Unless there is a newer one.
void TargetWatch::note_later(const std::optional<SourceMark>& source) {
  const std::lock_guard lock(mutex_);
  if (!to_note_) to_note_ = source;
}

// False: something is wrong with the index.
bool TargetWatch::look_at(const AppliedIndex& index) {
  const std::optional<MarkedIndex> marked = read(index);
  if (!marked) return !usurped();
  const auto target = targets_.find(index.id);
  const bool replaced = target != targets_.end() && target->second != marked->uuid;
  if (replaced || marked->mark.epoch > epoch_) {
    const std::lock_guard lock(mutex_);
    if (replaced) {
      replaced_ = index.alias;
    } else {
      later_ = marked->mark.source.place;
    }
    return false;
  }
  return true;
}

// None while there is no alias, which the bulk writer reports, and when what stands behind it is not ours.
std::optional<MarkedIndex> TargetWatch::read(const AppliedIndex& index) {
  const std::vector<IndexState> found = elasticsearch_.indices_of(index.target());
  if (found.size() != 1) return std::nullopt;
  try {
    return marked_index_of(index.target(), found);
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!usurped_) usurped_ = Usurped{index.id, error};
    return std::nullopt;
  }
}

// False: the index does not take it now, for a block perhaps; that is no reason to stop writing into the
// others.
bool TargetWatch::note_in(const AppliedIndex& index, const SourceMark& source) {
  try {
    set_index_writer(elasticsearch_, index.target(), epoch_, source);
    return true;
  } catch (const Error& error) {
    if (!error.retryable()) throw;
    return false;
  }
}

}  // namespace lockstep
