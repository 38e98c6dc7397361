#include "replicator/pipeline/waiter.h"

#include <algorithm>
#include <map>
#include <utility>

#include "replicator/clock.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/index_mark.h"
#include "replicator/error.h"
#include "replicator/pipeline/wake_up.h"
#include "replicator/source/source_absent.h"

namespace lockstep {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr milliseconds kShortestPause{2};
constexpr milliseconds kLongestPause{100};
constexpr milliseconds kAfterTrouble{250};
constexpr milliseconds kLedInterval{1'000};      // between checks for a leader
constexpr milliseconds kLeastForRefresh{1'000};  // even when the time is nearly over
constexpr std::size_t kKeptWatches = 2;

SteadyTime now() {
  return steady_now();
}

}  // namespace

milliseconds pause_after(std::chrono::steady_clock::duration waited) {
  return std::clamp(duration_cast<milliseconds>(waited / 10), kShortestPause, kLongestPause);
}

/// One wait. Reconnects and takes a later point, which includes the earlier one.
class Waiter::Course {
 public:
  Course(Waiter& waiter, const WaitRequest& request, const Progress& progress, const std::stop_token& stop)
      : waiter_(waiter), request_(request), progress_(progress), stop_(stop) {}

  ~Course() {
    point_.reset();
    if (watch_) waiter_.put_back(std::move(watch_));
  }

  WaitAnswer run() {
    // The first look does not ask for the leader: most waits are over before that matters.
    Every led(kLedInterval, begun_);
    while (!stop_.stop_requested()) {
      milliseconds pause = pause_after(now() - begun_);
      try {
        if (applied_) {
          reason_ = make_searchable();
          if (reason_.empty()) return answer(WaitAnswer::Kind::kApplied);
          if (left() <= milliseconds(0)) break;
          progress_(reason_);
          pause_.wait(std::min(kAfterTrouble, std::max(left(), milliseconds(1))), stop_);
          continue;
        }
        const AppliedState state = look();
        if (state.kind == AppliedState::Kind::kRolledBack)
          return answer(WaitAnswer::Kind::kRolledBack, state);
        if (state.kind == AppliedState::Kind::kUnknownTransaction)
          return answer(WaitAnswer::Kind::kUnknownTransaction, state);
        applied_ = state.kind == AppliedState::Kind::kApplied;
        if (applied_) continue;
        reason_ = state.reason;
        const bool last = left() <= milliseconds(0);
        if (last || led.due(now())) unled_ = watch_->is_led() ? "" : waiter_.words_.no_leader_reason();
        if (last && unled_.empty()) leader_waits_ = waiter_.words_.leader_waits();
        if (last) break;
      } catch (const Error& error) {
        if (!error.retryable()) throw;
        note_away(error.what());
        pause = kAfterTrouble;
        if (left() <= milliseconds(0)) break;
      } catch (const SourceAbsent& absent) {
        if (!has_looked_) throw;
        note_away(absent.what());
        pause = kAfterTrouble;
        if (left() <= milliseconds(0)) break;
      }
      progress_(told_reason());
      pause_.wait(std::min(pause, std::max(left(), milliseconds(1))), stop_);
    }
    if (stop_.stop_requested()) return answer(WaitAnswer::Kind::kStopped, {{}, "interrupted"});
    return answer(WaitAnswer::Kind::kTimedOut, {{}, told_reason()});
  }

 private:
  AppliedState look() {
    if (!watch_) {
      watch_ = waiter_.take_watch();
      point_.reset();
    }
    if (!point_) {
      try {
        point_ = watch_->begin(request_.transaction);
      } catch (const Error&) {
        // The kept connection may have been lost meanwhile.
        watch_ = waiter_.open_watch_();
        point_ = watch_->begin(request_.transaction);
      }
    }
    const AppliedState state = point_->look();
    has_looked_ = true;
    return state;
  }

  void note_away(const std::string& trouble) {
    point_.reset();
    watch_.reset();
    reason_ = trouble;
    unled_.clear();  // as far as is known
  }

  // Refreshes, if that is wanted. Not empty: why searches do not see the changes. An index with a single
  // generation is written by the alias itself, so a search may see them unless the alias points elsewhere.
  std::string make_searchable() {
    if (!watch_) watch_ = waiter_.take_watch();
    std::map<std::string, SearchedIndex> wanted;  // without a name: any index of the pipeline
    for (const SearchedIndex& each : watch_->searched_indices()) wanted[each.alias] = each;
    const bool refreshes = request_.refresh == WaitRequest::Refresh::kYes;
    if (refreshes) {
      for (const std::string& alias : waiter_.searched_.aliases) wanted.try_emplace(alias);
    }
    std::string why;
    if (wanted.empty()) return why;
    with_elasticsearch([&](ElasticsearchClient& elasticsearch) {
      for (const auto& [alias, index] : wanted) {
        const std::vector<IndexState> found = elasticsearch.indices_of(alias);
        if (found.size() == 1 && is_wanted(found.front(), index)) continue;
        const std::string name = index.index.empty() ? "an index of this pipeline" : index.index;
        why = "searches do not see it: the alias " + alias + " does not point to " + name +
              ", or not to it alone; see `lockstep status`";
      }
      if (refreshes && why.empty()) elasticsearch.refresh(waiter_.searched_.aliases);
    });
    return why;
  }

  bool is_wanted(const IndexState& found, const SearchedIndex& wanted) const {
    if (!wanted.index.empty()) return found.name == wanted.index || found.name == wanted.or_index;
    const std::optional<IndexMark> mark = readable_mark(found);
    return mark && mark->pipeline == waiter_.searched_.pipeline;
  }

  template <typename Question>
  void with_elasticsearch(const Question& question) {
    const milliseconds timeout =
        std::clamp(left(), kLeastForRefresh, std::max(kLeastForRefresh, waiter_.request_timeout_));
    ElasticsearchClient elasticsearch(waiter_.make_transport_(), timeout);
    const std::stop_callback on_stop(stop_, [&] { elasticsearch.cancel(); });
    question(elasticsearch);
  }

  /// Time until the time-out. Not positive: it is over.
  milliseconds left() const {
    if (!request_.timeout) return milliseconds::max();
    return *request_.timeout - duration_cast<milliseconds>(now() - begun_);
  }

  std::string told_reason() const {
    if (!unled_.empty()) return reason_ + ", and " + unled_;
    return leader_waits_.empty() ? reason_ : reason_ + "; the leader waits: " + leader_waits_;
  }

  WaitAnswer answer(WaitAnswer::Kind kind, const AppliedState& state = {}) const {
    return {kind, state.reason, duration_cast<milliseconds>(now() - begun_)};
  }

  Waiter& waiter_;
  const WaitRequest& request_;
  const Progress& progress_;
  const std::stop_token& stop_;
  const SteadyTime begun_ = now();
  std::unique_ptr<AppliedWatch> watch_;
  std::unique_ptr<AppliedPoint> point_;
  WakeUp pause_;
  std::string reason_;
  bool applied_ = false;
  bool has_looked_ = false;
  std::string unled_;         // why there is no leader; empty: there is one
  std::string leader_waits_;  // the leader's own reason to wait
};

Waiter::Waiter(OpenWatch open_watch, BulkWriter::TransportFactory make_transport, Searched searched,
               std::chrono::milliseconds request_timeout, Words words)
    : open_watch_(std::move(open_watch)),
      make_transport_(std::move(make_transport)),
      searched_(std::move(searched)),
      request_timeout_(request_timeout),
      words_(std::move(words)) {}

WaitAnswer Waiter::wait(const WaitRequest& request, const Progress& progress, const std::stop_token& stop) {
  return Course(*this, request, progress, stop).run();
}

std::unique_ptr<AppliedWatch> Waiter::take_watch() {
  {
    const MutexLock lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<AppliedWatch> watch = std::move(idle_.back());
      idle_.pop_back();
      return watch;
    }
  }
  return open_watch_();
}

void Waiter::put_back(std::unique_ptr<AppliedWatch> watch) {
  const MutexLock lock(mutex_);
  if (idle_.size() < kKeptWatches) idle_.push_back(std::move(watch));
}

}  // namespace lockstep
