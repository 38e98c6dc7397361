// From rendered documents to outcomes: gathers them into bulk requests, sees to it that a document has at
// most one operation in flight, and turns outcomes into what the checkpoint records.
//
// W1. At most one operation a document is in flight (beside deletes of old routings in the same request):
// since
//     Elasticsearch forgets the versions of deleted documents, a late write could bring one back.
// W2. Within a step, deletes under old routings have a lower version than the writes: where both reach the
//     same shard, a repeated delete does not undo the write.
// W3. With a refresher, a step of the tail and the last one of a job are acknowledged when what they and the
//     steps before them have written is searchable.
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
#include "replicator/source/source.h"

namespace lockstep {

/// The documents of one step, rendered from one snapshot.
class StepDocuments {
 public:
  /// `counter` is the transaction's, of which the versions are made; `bulk_bytes` closes a request.
  StepDocuments(Epoch epoch, std::int64_t counter, std::size_t bulk_bytes);

  /// The version of the step's writes.
  DocumentVersion version() const { return write_version_; }

  void add(const AppliedIndex& index, const RenderedDocument& document);

  /// Deletes a document under the routing under which it was found.
  void remove(const AppliedIndex& index, const FoundDocument& document);

  std::size_t documents() const { return documents_; }
  std::size_t bytes() const { return bytes_; }

 private:
  friend class DocumentWriter;

  /// A request with room; false for an _id that Elasticsearch refuses, which becomes a dead letter.
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

  /// Hands over a step's documents; waits while Elasticsearch has no room or a document is still in flight.
  /// False when `stop` was requested meanwhile: the step will not be acknowledged.
  bool submit(Lane lane, StepDocuments documents, StepEnd end, const std::stop_token& stop);

  /// Takes in what has come back, waiting up to `wait` for the first.
  void settle(std::chrono::milliseconds wait);

  /// Whether a step of one request can be handed over without waiting for Elasticsearch.
  bool has_room() const { return bulks_.has_room(); }

  /// So many requests of jobs may be on the wire at once.
  void limit_jobs(std::size_t requests) { bulks_.limit_background(requests); }

  /// How large a page of a job should be, at most, to be fast.
  std::int64_t job_bytes() const { return static_cast<std::int64_t>(bulks_.background_bytes()); }

  /// What is to be saved; nothing of it is lost if it is not saved, since it will be done again.
  Acknowledged take_acknowledged();
  bool has_news() const;

  /// Parts of what take_acknowledged() would give.
  const std::map<int, std::int64_t>& unsaved_documents() const { return documents_; }
  const std::vector<DeadLetter>& unsaved_refusals() const { return refused_; }

  /// The source says whether an index has dead letters: only then are writes that are applied reported, so
  /// that theirs can go.
  void expect_dead_letters(int index) { with_dead_letters_.insert(index); }
  void expect_no_dead_letters(int index);

  /// Called for each small request of the tail that has its outcomes, with the time since its submission.
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
    std::set<int> indices;
  };

  void take_in(BulkResult result);
  std::optional<std::set<int>> indices_to_refresh(Lane lane, const StepDocuments& documents,
                                                  const StepEnd& end);
  void refresh_applied();
  void take_in_item(const BulkItem& item, Outcome outcome, Counts& counts);
  bool collides(const BulkRequest& request) const;
  static std::size_t hash_of(const BulkItem& item);

  BulkWriter& bulks_;
  ProgressBoard& board_;
  std::unordered_map<int, bool> routed_;       // by index id
  std::unordered_set<int> with_dead_letters_;  // index ids
  Acknowledgements acknowledgements_;
  std::unordered_map<std::uint64_t, StepId> requests_;  // in flight, by ticket
  std::size_t job_requests_ = 0;                        // of these
  std::function<void(std::chrono::microseconds)> small_change_ = [](std::chrono::microseconds) {};
  std::unordered_multiset<std::size_t> documents_in_flight_;
  Refresher* refresher_ = nullptr;
  std::map<Lane, std::set<int>> written_;  // indices that are to be refreshed with a later step of the lane
  std::vector<ToRefresh> to_refresh_;      // not all of it is applied yet
  std::size_t refreshing_ = 0;             // steps that refresher_ has
  std::map<int, std::int64_t> documents_;  // by index
  std::vector<DeadLetter> refused_;
  std::vector<AcknowledgedWrite> no_longer_refused_;
  std::vector<AcknowledgedWrite> gone_routes_;
};

}  // namespace lockstep
