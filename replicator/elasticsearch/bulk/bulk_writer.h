// Sends bulk requests, several in flight, and gives every item an outcome (bulk_result.h). Items that may
// work later (429, 5xx, a lost connection, a missing alias) the writer sends again itself, with back-off,
// until they have an outcome or the writer is stopped. Promise 1 rests on this: nothing leaves the writer
// without an outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/backoff.h"
#include "replicator/clock.h"
#include "replicator/condition.h"
#include "replicator/elasticsearch/bulk/bulk_result.h"
#include "replicator/elasticsearch/bulk/bulk_wire.h"
#include "replicator/elasticsearch/bulk/failure_diagnosis.h"
#include "replicator/elasticsearch/transport/http_transport.h"
#include "replicator/mutex.h"

namespace lockstep {

/// The writer's view of Elasticsearch, for `status`, logs and health.
struct BulkWriterState {
  bool waiting = false;       ///< the last try failed, by no fault of its documents, and is repeated
  std::string reason;         ///< why: one line with server and cause; empty if not waiting
  std::string unanswered;     ///< a request that has had no reply for long, in words; empty: there is none
  std::vector<IndexId> slow;  ///< indices that have been slow for as long (slow_writes.h)
  std::uint64_t retries = 0;  ///< requests repeated since the start
  int in_flight = 0;
  int most_in_flight = 0;      ///< that Elasticsearch seems to take now (congestion_window.h)
  std::size_t most_bytes = 0;  ///< of a request, likewise
};

/// Owns twice `bulks_in_flight` threads with a transport each, and more while many indices are slow. submit()
/// and take() are for one owner thread.
class BulkWriter {
 public:
  struct Options {
    int bulks_in_flight = 3;
    std::size_t bulk_bytes = 1024 * 1024;  ///< of a request on the wire, at most
    std::chrono::milliseconds request_timeout{60'000};
    Backoff::Limits backoff;
    /// How long a request is repeated, without one more outcome, while its index takes other writes. Then the
    /// rest comes back as kRefused, so that it is out of the way.
    std::chrono::milliseconds patience{500};
    std::chrono::milliseconds background_patience{10'000};
    /// The same for a request that may still be on its way: its last try had no reply. It concerns kNotTaken,
    /// too.
    std::chrono::milliseconds unsettled_patience{30'000};
    /// A request without a reply, or an index that is slow, for so long is named in the state.
    std::chrono::milliseconds long_request{8'000};
    /// So many indices there are. While not all of them are slow, those that are wait alone
    /// (slow_writes.h).
    std::size_t indices = 1;
    /// The indices (failure_diagnosis.h).
    std::vector<BulkTarget> targets;
    /// A small request without a reply for so long makes its indices slow.
    std::chrono::milliseconds slow_request{1'000};
    /// The writer asks it before each request, from any thread. False holds the request back; the writer asks
    /// again after a pause.
    std::function<bool()> may_send = [] { return true; };
  };
  using TransportFactory = std::function<std::unique_ptr<HttpTransport>()>;
  using Priority = BulkPriority;

  BulkWriter(const Options& options, const TransportFactory& make_transport);
  /// Stops at once: requests in flight end or time out; items without an outcome are dropped, and not
  /// acknowledged.
  ~BulkWriter();
  BulkWriter(const BulkWriter&) = delete;
  BulkWriter& operator=(const BulkWriter&) = delete;

  /// Whether a submit() now would find an idle thread.
  bool has_room() const;

  /// Whether one more request of a slow index would leave enough threads to the others. Requests that wait
  /// for their next try do not count: they give up in time.
  bool has_place_for_slow() const;

  /// See slow_writes.h.
  bool is_slow(IndexId index) const { return wire_.is_slow(index); }

  /// Hands a request over; returns its ticket. Blocks while !has_room(). REQUIRES: no item without an outcome
  /// names the same document. After stop() the request is dropped.
  std::uint64_t submit(BulkRequest request, Priority priority = Priority::kNormal);

  /// Allows so many background requests on the wire at once, at least 1; at first all.
  void limit_background(std::size_t requests) { wire_.limit_background(requests); }

  /// The results so far, in their order; waits up to `wait` for the first one. After stop() it waits only
  /// while a request is on the wire. A request that has failed a few times has a result after each try, with
  /// the items written by then.
  std::vector<BulkResult> take(std::chrono::milliseconds wait);

  /// Calls `wake` (from any thread; it must be thread-safe) when a result comes, for an owner that waits
  /// elsewhere.
  void on_finished(std::function<void()> wake);

  /// Requests without all their outcomes, and results not yet taken; without those that stop() has dropped.
  std::size_t outstanding() const;

  BulkWriterState state() const;

  /// Ends all retries: a request that waits for one ends without outcome, and take() does not return it.
  /// Requests on the wire may finish within `grace` and are cut off then. Returns when none is left or
  /// `grace` is over.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Job {
    std::uint64_t ticket = 0;
    BulkRequest request;
    SteadyTime submitted;
    Priority priority = Priority::kNormal;
  };
  struct Worker;
  /// Places that requests in hand give to small changes.
  struct Given {
    std::size_t by_slow = 0;  ///< on the wire, of slow indices
    std::size_t by_others =
        0;  ///< that wait for their next try, and background requests that are not on the wire yet
  };

  /// The body of each worker's thread.
  void run(Worker& worker);
  /// The request with all its outcomes, but for parts that were handed over; none if stop() came first.
  std::optional<BulkResult> deliver(Worker& worker, Job job);
  /// Gives the owner a result. None, or the last one: the worker has nothing in hand any more.
  void hand_over(std::optional<BulkResult> result);
  /// Sends piece after piece until none is left or Elasticsearch needs a moment. Returns how many items got
  /// their outcome.
  std::size_t send_round(Worker& worker, std::uint64_t ticket, BulkDelivery& delivery, Priority priority);
  /// Returns how many items got their outcome.
  std::size_t send_piece(Worker& worker, BulkDelivery& delivery, std::size_t most_bytes);
  HttpResponse perform(Worker& worker, const BulkRequest& piece, const HttpRequest& request);
  void note_progress(Worker& worker);
  void note_unstuck(Worker& worker) LOCKSTEP_REQUIRES(mutex_);
  /// False once stop() was called. `with_outcome`: how many items of the round got their outcome.
  /// `takes_others`: the index of the rest takes other writes.
  bool wait_for_retry(Worker& worker, const RefusedItem& failure, std::size_t with_outcome, bool takes_others,
                      std::chrono::milliseconds pause);
  std::chrono::milliseconds patience(Priority priority) const;
  void add_worker() LOCKSTEP_REQUIRES(mutex_);
  std::size_t in_hand() const LOCKSTEP_REQUIRES(mutex_) {
    return queue_.size() + static_cast<std::size_t>(busy_);
  }
  bool room() const LOCKSTEP_REQUIRES(mutex_);
  Given places_given() const LOCKSTEP_REQUIRES(mutex_);
  void begin_outage() LOCKSTEP_REQUIRES(mutex_);
  void tell_outage(const RefusedItem& failure) LOCKSTEP_REQUIRES(mutex_);
  void end_outage() LOCKSTEP_REQUIRES(mutex_);

  // constant after construction
  const Options options_;
  const std::string path_;
  const TransportFactory make_transport_;
  const std::size_t places_;  // of requests that keep theirs
  FailureDiagnosis diagnosis_;
  BulkWire wire_;

  mutable Mutex mutex_;
  Condition job_came_;   // for idle workers; also when stopping
  Condition stop_came_;  // for workers that wait before the next try
  Condition job_ended_;  // for the owner; also when stopping
  std::vector<std::unique_ptr<Worker>> workers_ LOCKSTEP_GUARDED_BY(mutex_);
  std::deque<Job> queue_ LOCKSTEP_GUARDED_BY(mutex_);
  std::vector<BulkResult> finished_ LOCKSTEP_GUARDED_BY(mutex_);
  std::function<void()> wake_ LOCKSTEP_GUARDED_BY(mutex_);
  int busy_ LOCKSTEP_GUARDED_BY(mutex_) = 0;  // workers with a job
  std::uint64_t next_ticket_ LOCKSTEP_GUARDED_BY(mutex_) = 1;
  std::uint64_t retries_ LOCKSTEP_GUARDED_BY(mutex_) = 0;
  bool stopping_ LOCKSTEP_GUARDED_BY(mutex_) = false;
  int stuck_ LOCKSTEP_GUARDED_BY(mutex_) = 0;  // workers that are stuck; an outage lasts while there is one
  SteadyTime outage_began_ LOCKSTEP_GUARDED_BY(mutex_);
  std::uint64_t outage_retries_ LOCKSTEP_GUARDED_BY(mutex_) = 0;
  std::optional<int> outage_told_
      LOCKSTEP_GUARDED_BY(mutex_);  // the status that the log has; none: it has none
};

}  // namespace lockstep
