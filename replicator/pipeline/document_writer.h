// From rendered documents to outcomes: gathers documents into bulk requests, keeps at most one write of each
// document in flight, and turns outcomes into what the checkpoint saves.
//
// W1. At most one write of a document is in flight, beside deletes of its old routings in the same request.
//     Elasticsearch forgets the versions of deleted documents, so a late write could bring one back.
//
// W2. Within a step, deletes under old routings have a lower version than the writes. Where both reach the
//     same shard, a repeated delete does not undo the write.
//
// W3. With a refresher, a step of the tail is acknowledged when what it has written is searchable, and the
//     last step of a job when what the whole job has written is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/elasticsearch/bulk/bulk_writer.h"
#include "replicator/pipeline/acknowledgements.h"
#include "replicator/pipeline/progress.h"
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

  /// A request with room. Null for an _id that Elasticsearch refuses, which becomes a dead letter.
  BulkRequest* open_request(const AppliedIndex& index, std::string_view id, DocumentVersion version);

  DocumentVersion delete_version_;
  DocumentVersion write_version_;
  std::size_t bulk_bytes_;
  std::vector<BulkRequest> requests_;
  std::vector<DeadLetter> refused_;
  std::vector<AcknowledgedWrite> never_written_;
  std::size_t documents_ = 0;
  std::size_t bytes_ = 0;
};

/// For one thread, the pipeline's.
class DocumentWriter {
 public:
  /// All references must outlive this.
  DocumentWriter(BulkWriter& bulks, ProgressBoard& board, const AppliedPipeline& pipeline);

  /// From now on what is acknowledged is searchable (W3). `refresher` must outlive this.
  void refresh_with(Refresher& refresher) { refresher_ = &refresher; }

  /// Hands over a step's documents. Waits while Elasticsearch has no room or one of the documents is still in
  /// flight. False: `stop` was requested meanwhile, and the step will not be acknowledged.
  bool submit(Lane lane, StepDocuments documents, StepEnd end, const std::stop_token& stop);

  /// Takes the outcomes that have come back, waiting up to `wait` for the first.
  void take_outcomes(std::chrono::milliseconds wait);

  /// Whether a step of one request can be handed over without waiting for Elasticsearch.
  bool has_room() const { return bulks_.has_room(); }

  /// How many requests of jobs may be on the wire at once.
  void limit_jobs(std::size_t requests) { bulks_.limit_background(requests); }

  /// How large a page of a job should be, at most, to be fast.
  std::int64_t job_bytes() const { return static_cast<std::int64_t>(bulks_.background_bytes()); }

  /// Takes what is to be saved. If it is not saved, the work is repeated.
  Acknowledged take_acknowledged();
  bool has_news() const;

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

  const Acknowledgements& acknowledgements() const { return acknowledgements_; }
  std::size_t requests_in_flight() const { return requests_.size(); }
  std::size_t job_requests_in_flight() const { return job_requests_; }
  bool idle() const { return requests_.empty() && to_refresh_.empty() && refreshing_ == 0; }

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

  void take_result(BulkResult result);
  void take_outcome(const BulkItem& item, Outcome outcome, Counts& counts);
  std::optional<std::set<IndexId>> indices_to_refresh(Lane lane, const StepDocuments& documents,
                                                      const StepEnd& end);
  void refresh_applied();
  bool collides(const BulkRequest& request) const;
  static std::size_t hash_of(const BulkItem& item);

  BulkWriter& bulks_;
  ProgressBoard& board_;
  std::map<IndexId, bool> routed_;
  std::set<IndexId> with_dead_letters_;
  Acknowledgements acknowledgements_;
  std::unordered_map<std::uint64_t, StepId> requests_;  // in flight, by ticket
  std::size_t job_requests_ = 0;                        // of these
  std::function<void(std::chrono::microseconds)> small_change_ = [](std::chrono::microseconds) {};
  std::unordered_multiset<std::size_t> documents_in_flight_;
  Refresher* refresher_ = nullptr;
  std::map<Lane, std::set<IndexId>> written_;  // to be refreshed with a later step of the lane
  std::vector<ToRefresh> to_refresh_;          // not all of it is applied yet
  std::size_t refreshing_ = 0;                 // steps that refresher_ has
  std::map<IndexId, std::int64_t> documents_;
  std::vector<DeadLetter> refused_;
  std::vector<AcknowledgedWrite> no_longer_refused_;
  std::vector<AcknowledgedWrite> gone_routes_;
};

}  // namespace lockstep
