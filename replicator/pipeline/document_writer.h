// From rendered documents to outcomes: gathers documents into bulk requests, keeps at most one write of each
// document in flight, and turns outcomes into the checkpoint's saves. It never waits for Elasticsearch.
//
// W1. At most one write of a document is in flight, next to deletes of its old routings in the same request,
//     and its writes are sent in the order in which they were submitted, those that wait here included.
//     Elasticsearch forgets the versions of deleted documents, so a late write could bring one back. Of a
//     request whose documents are partly in flight only that part waits, as a request of its own.
//
// W2. Within a step, deletes under old routings have a lower version than the writes (step_documents.h).
//
// W3. With a refresher, a step of the tail is acknowledged once its writes are searchable, and the last step
//     of a job once those of the whole job are.
//
// W4. A document that cannot be written now becomes due again: its step continues without it, and the commit
//     that passes it makes it due. So it stops neither the others nor the loop.
//
// W5. A write that meets a greater version is superseded only by a newer write of this process. Any other
//     such version was given by another program: the document becomes due again, and is written from what the
//     view gives then.
//
// W6. A write of a page that a deletion has overtaken is not sent: reading the page may have taken so long
//     that Elasticsearch has forgotten the version of the deletion. Due documents stay due (U1): the deletion
//     may have no outcome yet.
//
// W7. While the tail has a request of a slow index (slow_writes.h) in flight, further documents of the index
//     become due, and the background work has one request of the index, next to the tail's.
//
// W8. A document that is deleted while an older write of it may still land becomes due when none can any
//     more (late_writes.h), and is deleted again.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replicator/clock.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/pipeline/acknowledgements.h"
#include "replicator/pipeline/document_claims.h"
#include "replicator/pipeline/document_news.h"
#include "replicator/pipeline/late_writes.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/recent_writes.h"
#include "replicator/pipeline/refresher.h"
#include "replicator/pipeline/step_documents.h"
#include "replicator/pipeline/step_refreshes.h"
#include "replicator/pipeline/written_documents.h"
#include "replicator/source/applied.h"

namespace lockstep {

/// Why changes of a slow index become a job (W7).
inline constexpr std::string_view kSlowIndex = "Elasticsearch is slow to write the index";

/// For one thread, the pipeline's.
class DocumentWriter {
  static const Clock& system_clock();

 public:
  /// All references must outlive this. `clock` measures how long documents have waited. Until `earlier_land`
  /// a write of an earlier leader may land.
  DocumentWriter(BulkWriter& bulks, ProgressBoard& board, const AppliedPipeline& pipeline,
                 const Clock& clock = system_clock(), SteadyTime earlier_land = {});

  /// From now on acknowledged documents are searchable (W3). `refresher` must outlive this.
  void refresh_with(Refresher& refresher) { refreshes_.use(refresher); }

  /// Its collaborators.
  struct Others {
    /// An index does not take a write of this document, nor of any other, for this reason.
    std::function<void(const DocumentKey&, const std::string&)> hear_held = [](const auto&, const auto&) {};
    /// A write of this document has met a version that is not known to be ours (W5).
    std::function<void(const DocumentKey&, RecentWrites::Owner)> hear_foreign = [](const auto&, auto) {};
    /// A small request of the tail has its outcomes, so long after it was submitted, with so many requests of
    /// jobs in flight.
    std::function<void(std::chrono::microseconds, std::size_t)> hear_small_change = [](auto, auto) {};
    /// Whether any document of the index is due: only then it remembers its writes there, for
    /// is_written_since(), since documents that become due later are due as of a later version.
    std::function<bool(IndexId)> is_due = [](IndexId) { return true; };
    /// Whether a page has waited so long for room that the tail leaves it the next one: if there is one
    /// place, endless small changes would take it every time.
    std::function<bool()> page_goes_first = [] { return false; };
  };
  void connect(Others others) { others_ = std::move(others); }

  /// Takes over a step's documents. They are sent as soon as Elasticsearch has room, now or in
  /// take_outcomes(), those with another write in flight behind it. REQUIRES: has_room(), for a job
  /// has_room_for_jobs(): so at most one step waits as a whole.
  void submit(Lane lane, StepDocuments documents, StepEnd end);

  /// Takes the outcomes that have come back, waiting up to `wait` for the first, and sends the documents that
  /// have waited for room or for another write of theirs. Such a document becomes due if that write takes
  /// long.
  void take_outcomes(std::chrono::milliseconds wait);

  /// Whether a step of one request can be sent without waiting for Elasticsearch, but for documents that have
  /// another write in flight. Not for the tail while a page goes first.
  bool has_room() const {
    return has_room_behind_page() && (job_requests_in_flight() > 0 || !others_.page_goes_first());
  }

  /// The same for a page of a job, if jobs may have so many requests in hand, not counting those with only
  /// refused documents left. Lets them have so many `on_wire` from now on.
  bool has_room_for_jobs(std::size_t on_wire, std::size_t in_hand);

  /// Whether the index is slow and has enough in hand of this priority, so that changes of it become due
  /// before they are rendered, and no page of it is read (W7).
  bool holds_back(IndexId index, BulkPriority priority) const;

  /// Takes the outcomes to save. If they are not saved, the work is repeated.
  Acknowledged take_acknowledged();
  bool has_news() const { return acknowledgements_.has_news() || !news_.empty(); }

  /// The outcomes of documents. REQUIRES: the unwritten ones are saved together with the result of
  /// take_acknowledged(), by which the checkpoint may pass them.
  DocumentNews& news() { return news_; }

  /// Whether Elasticsearch has acknowledged a write of the document under this version or a greater one, and
  /// a wait for it may end. False: that is not known. Any thread may ask.
  bool is_written_since(IndexId index, const DocumentId& id, DocumentVersion version) const {
    return !refreshes_.is_on() && written_.has(index, id, version);
  }

  /// The number of requests taken over until now; and of the first of them that have all their outcomes.
  std::uint64_t requests_taken_over() const { return taken_over_; }
  std::uint64_t requests_done_before() const { return open_.empty() ? taken_over_ : *open_.begin(); }

  /// How long the tail's rows took, since the last call.
  struct Delays {
    DelayHistogram acknowledged;  ///< until Elasticsearch had acknowledged their documents
    DelayHistogram searchable;    ///< until it was searchable, too; only with a refresher
  };
  Delays take_delays();

  /// Until when unanswered writes may land, apart from those in flight.
  SteadyTime late_writes_land() const { return late_.any_may_land_until(); }

  /// Writes of the index that were submitted and have no outcome.
  std::int64_t pending(IndexId index) const;

  const Acknowledgements& acknowledgements() const { return acknowledgements_; }
  std::size_t requests_in_flight() const { return requests_.size(); }

  /// Whether a request of the tail is on the wire, and was sent less than so long ago.
  bool tail_has_request_younger_than(std::chrono::milliseconds age) const;
  bool idle() const {
    return requests_.empty() && tail_waiting_.empty() && jobs_waiting_.empty() && refreshes_.empty();
  }

 private:
  struct Counts {
    std::int64_t documents = 0;
    std::int64_t deletes = 0;
    std::int64_t superseded = 0;
    std::int64_t refused = 0;
  };

  /// The origin of a request, or of a part of one.
  struct Origin {
    StepId step;
    std::optional<DueNumber> since = {};  ///< StepEnd::since
    std::uint64_t number = 0;             ///< in the order in which requests were taken over
    bool is_small = false;                ///< the whole request
  };

  struct InFlight {
    Origin origin;
    Claim claim = 0;
    SteadyTime sent;
    IndexId index;
    bool is_repeated = false;  ///< the items without an outcome were refused again and again
    bool is_refused = false;   ///< the same, while its index takes other writes
  };

  /// A request that has not been sent yet, and claims nothing.
  struct Whole {
    BulkRequest request;
    Origin origin;
    std::optional<SteadyTime> since = {};  ///< for room behind other writes of its documents
  };

  /// Documents that wait for other writes of them, which are in flight or wait before them.
  struct Behind {
    BulkRequest request;
    Origin origin;
    Claim claim = 0;
    SteadyTime since;
  };

  /// Requests that the tail has submitted and that are not sent yet; likewise the jobs'.
  struct Queue {
    std::deque<Whole> whole;
    std::list<Behind> behind;
    std::size_t bytes_behind = 0;

    bool empty() const { return whole.empty() && behind.empty(); }
    bool is_full() const;
    bool has_room() const { return whole.empty() && !is_full(); }
  };

  bool has_room_behind_page() const { return bulks_.has_room() && tail_waiting_.has_room(); }
  std::size_t job_requests_in_flight() const { return job_requests_ - refused_job_requests_; }
  void send_waiting();
  void send_behind(Queue& queue);
  bool send_first(Queue& queue);
  void defer_slow(Whole& whole);
  BulkRequest without_overtaken(BulkRequest request, const Origin& origin);
  Claim claim_documents(const BulkRequest& request);
  void claim_and_send(BulkRequest request, const Origin& origin);
  void send(BulkRequest request, const Origin& origin, Claim claim);
  void done_with(const Origin& origin);
  void give_up_what_waits_long(Queue& queue);
  bool waits_long(const BulkRequest& request, Claim claim, SteadyTime since, SteadyTime long_ago) const;
  BulkRequest give_up_colliding(const BulkRequest& request, Claim claim, const Origin& origin);
  void take_result(BulkResult result);
  void take_last(const BulkResult& result);
  void note_repeated(InFlight& in_flight, const BulkResult& result);
  void take_refusal(const BulkItem& item, Outcome outcome, RefusedItem refusal, const Origin& origin);
  void take_outcome(const BulkItem& item, Outcome outcome, Counts& counts, const Origin& origin);
  bool repeat_if_late(const BulkItem& deleted);
  bool is_superseded_by_us(const BulkItem& item, const Origin& origin);
  bool collides(const BulkItem& item, Claim claim) const {
    return claims_.count_before(hash_of(item), claim) > 0;
  }
  bool collides(const BulkRequest& request, Claim claim) const;
  static std::size_t hash_of(const BulkItem& item);

  BulkWriter& bulks_;
  ProgressBoard& board_;
  const Clock& clock_;
  DocumentNews news_;
  StepRefreshes refreshes_;
  Acknowledgements acknowledgements_;
  std::unordered_map<std::uint64_t, InFlight> requests_;  // by ticket
  Queue tail_waiting_;
  Queue jobs_waiting_;
  DocumentClaims claims_;  // of requests_ and of the requests that wait behind them
  Claim next_claim_ = 0;
  std::uint64_t taken_over_ = 0;
  std::multiset<std::uint64_t> open_;  // numbers of requests without all their outcomes, of each part
  std::size_t job_requests_ = 0;       // of requests_ and jobs_waiting_
  std::size_t refused_job_requests_ = 0;
  Others others_;
  RecentWrites recent_;
  LateWrites late_;
  WrittenDocuments written_;
  std::map<IndexId, std::int64_t> pending_;
};

}  // namespace lockstep
