#include "replicator/pipeline/target_watch.h"

#include <utility>

#include "replicator/pipeline/leadership.h"

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
      looked_at_(steady_now()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

TargetWatch::~TargetWatch() {
  thread_.request_stop();
  elasticsearch_.cancel();
  thread_.join();
}

void TargetWatch::note(const SourceMark& source) {
  const MutexLock lock(mutex_);
  to_note_ = source;
  newest_ = source;
  is_noted_ = false;
}

void TargetWatch::note_now(const SourceMark& source, std::chrono::milliseconds at_most) {
  note(source);
  wake_up_.wake();
  MutexLock lock(mutex_);
  noted_.wait_for(lock, at_most, [this]() LOCKSTEP_REQUIRES(mutex_) { return is_noted_; });
}

void TargetWatch::require_same_targets() {
  const MutexLock lock(mutex_);
  if (later_) throw Deposed("a later leader writes into the pipeline's indices");
  const std::string changed = lost_.empty() ? replaced_ : lost_.begin()->second;
  if (changed.empty() && !correct_again_.empty()) throw PipelineChanged(correct_again_);
  if (changed.empty()) return;
  throw Error({"following changes", changed, "checking both sides again", Retry::kLater});
}

std::set<IndexId> TargetWatch::lost() {
  const MutexLock lock(mutex_);
  std::set<IndexId> lost;
  for (const auto& [index, why] : lost_) lost.insert(index);
  return lost;
}

std::map<IndexId, std::string> TargetWatch::unfit() {
  const MutexLock lock(mutex_);
  return unfit_;
}

std::optional<std::string> TargetWatch::place_of_later_leader() {
  const MutexLock lock(mutex_);
  return later_;
}

bool TargetWatch::is_recent() {
  {
    const MutexLock lock(mutex_);
    const bool is_wrong = later_ || !lost_.empty();
    if (!is_wrong && steady_now() - looked_at_ < kTrusted) return true;
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
  const SteadyTime begin = steady_now();
  std::optional<SourceMark> to_note;
  std::optional<SourceMark> newest;
  {
    const MutexLock lock(mutex_);
    to_note = std::exchange(to_note_, std::nullopt);
    newest = newest_;
  }
  bool noted = true;
  bool is_same = true;
  for (const AppliedIndex& index : pipeline_.indices) {
    try {
      if (!was_fit(index.id)) {
        is_same = (!newest || look_at_unfit(index, *newest)) && is_same;
      } else if (!look_at(index, newest)) {
        is_same = false;
      } else if (to_note) {
        noted = note_in(index, *to_note) && noted;
      }
    } catch (const Error& error) {
      // The bulk writer reports it.
      if (error.retryable()) return note_later(to_note);
    }
  }
  if (!is_same) return;
  if (!noted) note_later(to_note);
  const MutexLock lock(mutex_);
  looked_at_ = begin;
  is_noted_ = !to_note_;
  noted_.notify_all();
}

// Unless there is a newer one.
void TargetWatch::note_later(const std::optional<SourceMark>& source) {
  const MutexLock lock(mutex_);
  if (!to_note_) to_note_ = source;
}

// False: it is not the index of the beginning.
bool TargetWatch::look_at(const AppliedIndex& index, const std::optional<SourceMark>& newest) {
  std::optional<MarkedIndex> marked;
  try {
    marked = read(index);
  } catch (const Error& error) {
    if (error.parts().server != Server::kNone) throw;
    const MutexLock lock(mutex_);
    lost_[index.id] = error.what();
    return false;
  }
  if (!marked) return true;
  const auto target = targets_.find(index.id);
  if (target != targets_.end() && target->second != marked->uuid) {
    const MutexLock lock(mutex_);
    replaced_ = "the index of " + index.alias + " has been replaced";
    return false;
  }
  if (!marked->mark.doubt.empty()) {
    const MutexLock lock(mutex_);
    replaced_ = "the index of " + index.alias + ": " + marked->mark.doubt;
    return false;
  }
  // An `apply` or an earlier leader that had read the mark before this leader's has written it back.
  if (newest && marked->mark.epoch < epoch_) note_in(index, *newest);
  return !is_later(*marked);
}

// False: it is fit now. It is fit once it takes a mark, too. The index behind its alias is compared anyway.
bool TargetWatch::look_at_unfit(const AppliedIndex& index, const SourceMark& newest) {
  try {
    const std::optional<MarkedIndex> marked = read(index);
    if (!marked) return true;
    if (is_later(*marked)) return false;
    if (!note_in(index, newest)) return true;
  } catch (const Error& error) {
    if (error.retryable()) throw;
    const MutexLock lock(mutex_);
    unfit_[index.id] = error.what();
    return true;
  }
  const MutexLock lock(mutex_);
  correct_again_ = "the index of " + index.alias + " is correct again";
  return false;
}

// None for a deleted generation next to another: that ends its reindex (reindexing.h). Throws Error (no
// server) for an index that is not this pipeline's, for none and for several.
std::optional<MarkedIndex> TargetWatch::read(const AppliedIndex& index) {
  const std::vector<IndexState> found = elasticsearch_.indices_of(index.target());
  if (found.empty() && index.beside) return std::nullopt;
  MarkedIndex marked = marked_index_of(index.target(), found, sought_index(index));
  require_ours(pipeline_, index, marked.mark);
  return marked;
}

bool TargetWatch::is_later(const MarkedIndex& marked) {
  if (marked.mark.epoch <= epoch_) return false;
  const MutexLock lock(mutex_);
  later_ = marked.mark.source.place;
  return true;
}

// False: the index does not take it now, for a block perhaps; that is no reason to stop writing into the
// others.
bool TargetWatch::note_in(const AppliedIndex& index, const SourceMark& source) {
  try {
    set_index_writer(elasticsearch_, index.target(), sought_index(index), pipeline_.identity, epoch_, source);
    return true;
  } catch (const Error& error) {
    if (!error.retryable()) throw;
    return false;
  }
}

bool TargetWatch::was_fit(IndexId index) const {
  const auto target = targets_.find(index);
  return target == targets_.end() || target->second != kUnknownTarget;
}

}  // namespace lockstep
