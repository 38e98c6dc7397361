// From rendered documents to outcomes: gathers documents into bulk requests, keeps at most one write of each
// document in flight, and turns outcomes into what the checkpoint saves. It never waits for Elasticsearch.
//
// W1. At most one write of a document is in flight, beside deletes of its old routings in the same request.
//     Elasticsearch forgets the versions of deleted documents, so a late write could bring one back.
//
// W2. Within a step, deletes under old routings have a lower version than the writes. Where both reach the
//     same shard, a repeated delete does not undo the write.
//
// W3. With a refresher, a step of the tail is acknowledged when what it has written is searchable, and the
//     last step of a job when what the whole job has written is.
//
// W4. A document that cannot be written now is parked: its step goes on without it, and the checkpoint that
//     passes it saves a job that writes it later. So it stops neither the others nor the loop.
//
// W5. A write that meets a greater version is superseded only by a newer write of this process. Any other
//     such version something else has given: the document is parked, and written from what the view gives
//     then.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/pipeline/acknowledgements.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/recent_writes.h"
#include "replicator/pipeline/refresher.h"
#include "replicator/source/applied.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

/// The documents of one step, rendered from one snapshot.
class StepDocuments {
 public:
  /// `counter` belongs to the transaction; the step's versions are made of it. A request that has reached
  /// `bulk_bytes` is closed.
  StepDocuments(Epoch epoch, std::int64_t counter, std::size_t bulk_bytes);

  /// The version of the step's writes.
  DocumentVersion version() const { return write_version_; }

  /// Writes the document, or deletes it when the view does not have it.
  void add(const AppliedIndex& index, const RenderedDocument& document);

  /// Deletes the document under the routing under which it was found.
  void remove(const AppliedIndex& index, const FoundDocument& document);

  std::size_t documents() const { return documents_; }
  std::size_t bytes() const { return bytes_; }

 private:
  friend class DocumentWriter;

  BulkRequest& open_request();
  /// Makes a dead letter of a document that cannot be written, instead of sending it.
  void refuse(const DocumentKey& document, const std::string& type, const std::string& reason);
  bool refuse_what_cannot_be_written(const DocumentKey& document, const RenderedDocument& rendered);

  DocumentVersion delete_version_;
  DocumentVersion write_version_;
  std::size_t bulk_bytes_;
  std::vector<BulkRequest> requests_;
  std::vector<DeadLetter> refused_;
  std::vector<AcknowledgedWrite> never_written_;
  std::size_t documents_ = 0;
  std::size_t bytes_ = 0;
};

/// Documents of one index that wait for a job (W4).
struct ParkedDocuments {
  std::vector<FoundDocument> documents;  ///< with the routings under which they were to be written
  std::string reason;                    ///< in words, of the last one
};

/// For one thread, the pipeline's.
class DocumentWriter {
 public:
  /// All references must outlive this.
  DocumentWriter(BulkWriter& bulks, ProgressBoard& board, const AppliedPipeline& pipeline);

  /// From now on what is acknowledged is searchable (W3). `refresher` must outlive this.
  void refresh_with(Refresher& refresher) { refresher_ = &refresher; }

  /// Calls `listener` when an index does not take a write of this document, nor of any other, with the
  /// reason.
  void on_held(std::function<void(const DocumentKey&, const std::string&)> listener) {
    held_ = std::move(listener);
  }

  /// Calls `listener` when a write of this document has met a version that is not known to be ours (W5).
  void on_foreign(std::function<void(const DocumentKey&, RecentWrites::Owner)> listener) {
    foreign_ = std::move(listener);
  }

  /// Takes over a step's documents. They are sent as soon as Elasticsearch has room, now or in
  /// take_outcomes(). REQUIRES: has_room(), for a job has_room_for_jobs(): so at most one step waits.
  void submit(Lane lane, StepDocuments documents, StepEnd end);

  /// Takes the outcomes that have come back, waiting up to `wait` for the first, and sends what has waited
  /// for room or for another write of its document. Such a document is parked when that write takes long.
  void take_outcomes(std::chrono::milliseconds wait);

  /// Whether a step of one request can be sent without waiting for Elasticsearch.
  bool has_room() const { return bulks_.has_room() && waiting_.empty(); }
  bool has_room_for_jobs() const { return has_room() && jobs_waiting_.empty(); }

  /// How many requests of jobs may be on the wire at once.
  void limit_jobs(std::size_t requests) { bulks_.limit_background(requests); }

  /// How large a page of a job should be, at most, to be fast.
  std::int64_t job_bytes() const { return static_cast<std::int64_t>(bulks_.background_bytes()); }

  /// Takes what is to be saved. If it is not saved, the work is repeated.
  Acknowledged take_acknowledged();
  bool has_news() const;

  /// Takes what is parked. REQUIRES: saved together with what take_acknowledged() returns, by which the
  /// checkpoint may pass it.
  std::map<IndexId, ParkedDocuments> take_parked() { return std::exchange(parked_, {}); }

  /// How many requests were taken over until now; and how many of the first of them have all their outcomes.
  std::uint64_t requests_taken_over() const { return taken_over_; }
  std::uint64_t requests_done_before() const { return open_.empty() ? taken_over_ : *open_.begin(); }

  /// Parts of what take_acknowledged() would return.
  const std::map<IndexId, std::int64_t>& unsaved_documents() const { return documents_; }
  const std::vector<DeadLetter>& unsaved_refusals() const { return refused_; }

  /// Whether the source has dead letters of an index. Only then are applied writes reported, so that their
  /// dead letters go.
  void expect_dead_letters(IndexId index) { with_dead_letters_.insert(index); }
  void expect_no_dead_letters(IndexId index);

  /// Calls `listener` for each small request of the tail that has its outcomes, with the time since it was
  /// submitted.
  void on_small_change(std::function<void(std::chrono::microseconds)> listener) {
    small_change_ = std::move(listener);
  }

  /// How long the tail's rows took, since the last call.
  struct Delays {
    DelayHistogram acknowledged;  ///< until Elasticsearch had acknowledged what they write
    DelayHistogram searchable;    ///< until it was searchable, too; only with a refresher
  };
  Delays take_delays();

  /// Writes of the index that were submitted and have no outcome.
  std::int64_t pending(IndexId index) const;

  const Acknowledgements& acknowledgements() const { return acknowledgements_; }
  std::size_t requests_in_flight() const { return requests_.size(); }
  std::size_t job_requests_in_flight() const { return job_requests_; }
  bool idle() const {
    return requests_.empty() && waiting_.empty() && jobs_waiting_.empty() && to_refresh_.empty() &&
           refreshing_ == 0;
  }

 private:
  struct Counts {
    std::int64_t documents = 0;
    std::int64_t deletes = 0;
    std::int64_t superseded = 0;
    std::int64_t refused = 0;
  };

  /// A step whose last bulk stands for the refresh.
  struct ToRefresh {
    StepId step;
    std::set<IndexId> indices;
  };

  struct InFlight {
    StepId step;
    std::uint64_t number = 0;
    SteadyTime sent;
  };

  /// A request that has not been sent yet.
  struct Waiting {
    BulkRequest request;
    StepId step;
    std::uint64_t number = 0;              ///< in the order in which requests were taken over
    std::optional<SteadyTime> since = {};  ///< for another write of one of its documents
  };

  void send_waiting();
  void send_waiting(std::deque<Waiting>& queue);
  void send(Waiting waiting);
  bool may_wait(const Waiting& waiting, SteadyTime now) const;
  void park_colliding(Waiting& waiting);
  void park(const DocumentKey& document, const std::string& reason);
  void take_result(BulkResult result);
  void take_refusal(const BulkItem& item, Outcome outcome, RefusedItem refusal);
  void take_outcome(const BulkItem& item, Outcome outcome, Counts& counts);
  bool is_superseded_by_us(const BulkItem& item);
  std::optional<std::set<IndexId>> indices_to_refresh(Lane lane, const StepDocuments& documents,
                                                      const StepEnd& end);
  void refresh_applied();
  bool collides(const BulkItem& item) const { return documents_in_flight_.contains(hash_of(item)); }
  bool collides(const BulkRequest& request) const;
  static std::size_t hash_of(const BulkItem& item);

  BulkWriter& bulks_;
  ProgressBoard& board_;
  std::map<IndexId, bool> routed_;
  std::set<IndexId> with_dead_letters_;
  Acknowledgements acknowledgements_;
  std::unordered_map<std::uint64_t, InFlight> requests_;  // by ticket
  std::deque<Waiting> waiting_;                           // of the tail, not sent yet
  std::deque<Waiting> jobs_waiting_;
  std::uint64_t taken_over_ = 0;
  std::set<std::uint64_t> open_;  // numbers of requests without all their outcomes
  std::size_t job_requests_ = 0;  // of requests_ and jobs_waiting_
  std::function<void(const DocumentKey&, const std::string&)> held_ = [](const DocumentKey&,
                                                                         const std::string&) {};
  std::function<void(const DocumentKey&, RecentWrites::Owner)> foreign_ = [](const DocumentKey&,
                                                                             RecentWrites::Owner) {};
  RecentWrites recent_;
  std::function<void(std::chrono::microseconds)> small_change_ = [](std::chrono::microseconds) {};
  std::unordered_multimap<std::size_t, std::uint64_t> documents_in_flight_;  // hash_of() → ticket
  std::map<IndexId, std::int64_t> pending_;
  DelayHistogram applied_;  // of steps that the refresher has got
  Refresher* refresher_ = nullptr;
  std::map<Lane, std::set<IndexId>> written_;  // to be refreshed with a later step of the lane
  std::vector<ToRefresh> to_refresh_;          // not all of it is applied yet
  std::size_t refreshing_ = 0;                 // steps that refresher_ has
  std::map<IndexId, std::int64_t> documents_;
  std::vector<DeadLetter> refused_;
  std::vector<AcknowledgedWrite> no_longer_refused_;
  std::vector<AcknowledgedWrite> gone_routes_;
  std::map<IndexId, ParkedDocuments> parked_;
};

}  // namespace lockstep
