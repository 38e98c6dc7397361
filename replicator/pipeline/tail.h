// Follows the changes: reads newly visible changes, finds and renders the documents, and hands them to the
// writer, a bounded number of them in each transaction.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/pipeline/checkpoint.h"
#include "replicator/pipeline/chunk_size.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/isolation/reading_limit.h"
#include "replicator/pipeline/isolation/standing.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/rendering.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class Tail {
 public:
  /// Continues at the checkpoint. `is_due`: whether anything of an index is due. All references must outlive
  /// this.
  Tail(const Config& config, const AppliedPipeline& pipeline, Standing& standing, ChangeLog& changes,
       DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions, ProgressBoard& board,
       std::function<bool(IndexId)> is_due);

  /// One transaction: true if it found work. False: nothing was committed since the last turn, the writer has
  /// no room for documents now, or changes gather behind those that were sent just before. If a view takes
  /// too long (reading_limit.h), the changes of its index become due for a while; of an index with a routing
  /// it throws a ViewError.
  bool turn();

  /// Goes back to its place before a turn that has thrown a ViewError, and forgets the changes in hand. Those
  /// handed over already are written once more.
  void rewind();

  /// Whether the last turn saw the end of the changes committed until then.
  bool at_end() const { return at_end_; }

  /// Everything up to here has been read. When idle(), everything has been handed over too, though perhaps
  /// not acknowledged.
  const Position& position() const { return position_; }
  bool idle() const { return pieces_.empty(); }

  std::int64_t batches() const { return batches_; }

  /// Of rows that it has passed, and that no trigger of ours has written.
  const std::set<CaptureId>& unknown_captures() const { return unknown_captures_; }

 private:
  /// Documents of one index that are not rendered yet.
  struct Piece {
    const AppliedIndex* index;
    DocumentIds ids;
  };

  bool step();
  bool read(SourceTransaction& transaction);
  void resolve(SourceTransaction& transaction, const std::vector<CapturedChange>& changes);
  /// The number of documents, led to by changes of the index, that are written at once.
  std::int64_t most_at_once(IndexId index, const std::vector<CapturedChange>& changes) const;
  void separate(SourceTransaction& transaction, const AppliedIndex& index,
                const std::vector<CapturedChange>& changes, std::int64_t room);
  void make_due(SourceTransaction& transaction, const LargeTransaction& large);
  /// Whether the index is followed at once. If not, its changes become due, or it is paused.
  bool follows(SourceTransaction& transaction, const AppliedIndex& index,
               const std::function<void()>& make_due);
  /// The rest of the piece becomes due.
  void step_aside(SourceTransaction& transaction, Piece& piece, const std::string& reason);
  void render(SourceTransaction& transaction, StepDocuments& documents);
  void render(SourceTransaction& transaction, StepDocuments& documents, Piece& piece,
              std::int64_t most_documents);

  const std::int64_t chunk_documents_;
  const std::int64_t fan_out_threshold_;
  const std::size_t bulk_bytes_;
  const AppliedPipeline& pipeline_;
  Standing& standing_;
  ChangeLog& changes_;
  DocumentWriter& writer_;
  Checkpoint& checkpoint_;
  VersionCounter& versions_;
  ProgressBoard& board_;
  const std::function<bool(IndexId)> is_due_;
  ReadingLimit limit_;
  ChunkSize chunk_size_;

  Position position_;           // read up to here
  DocumentVersion version_;     // of the step in hand
  Position chunk_begin_;        // the beginning of the last chunk
  std::deque<Piece> pieces_;    // of the chunk that was read last
  StepEnd end_;                 // takes effect once the last of pieces_ is acknowledged
  bool is_first_step_ = false;  // of the first chunk after a rest
  std::map<IndexId, Rendering> renderings_;
  std::vector<std::pair<IndexId, std::string>> to_pause_;  // by the transaction that is open, and why
  bool at_end_ = false;
  std::int64_t batches_ = 0;
  std::set<CaptureId> unknown_captures_;
};

}  // namespace lockstep
