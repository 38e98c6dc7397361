// Follows the changes: reads what has become visible, finds and renders the documents, and hands them to the
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
#include "replicator/pipeline/isolation/held_indices.h"
#include "replicator/pipeline/isolation/reading_limit.h"
#include "replicator/pipeline/isolation/set_aside.h"
#include "replicator/pipeline/isolation/slow_indices.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/rendering.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class Tail {
 public:
  /// Where the jobs go that a large change, a truncated table or a slow view becomes.
  struct Jobs {
    std::function<void(Job)> add;
    std::function<bool(JobId)> is_unfinished;
  };

  /// Chunks with changes of an index that is slow to write, between two answers, that become a job. So many
  /// come where it hardly answers any more: then it is set aside and compared.
  static constexpr int kMostBehindSlowWrite = 5'000;

  /// Goes on at the checkpoint. All references must outlive this.
  Tail(const Config& config, const AppliedPipeline& pipeline, SetAside& set_aside, const HeldIndices& held,
       ChangeLog& changes, DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions,
       ProgressBoard& board, Jobs jobs, int most_behind_slow_write = kMostBehindSlowWrite);

  /// One transaction: true when it found work. False: nothing was committed since the last turn, the writer
  /// has no room for documents now, or changes gather behind those that were sent just before. When a view
  /// takes too long (reading_limit.h), the changes of its index become jobs for a while; of an index with a
  /// routing it throws a ViewError.
  bool turn();

  /// Goes back to where it was before a turn that has thrown a ViewError, and forgets what it has in hand.
  /// What was handed over already is written once more.
  void rewind();

  /// Whether the last turn saw the end of what was committed then.
  bool at_end() const { return at_end_; }

  /// Everything up to here has been read. When idle(), everything has been handed over too, though perhaps
  /// not acknowledged.
  const Position& position() const { return position_; }
  bool idle() const { return pieces_.empty(); }

  std::int64_t batches() const { return batches_; }

  /// Of rows that it has passed, and that something else than a trigger of ours has written.
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
  void separate(SourceTransaction& transaction, const AppliedIndex& index,
                const std::vector<CapturedChange>& changes);
  void make_jobs(SourceTransaction& transaction, const LargeTransaction& large);
  bool is_held_back(IndexId index) const {
    return held_.contains(index) || slow_.contains(index) || writer_.holds_back(index);
  }
  void hold_back(SourceTransaction& transaction, const AppliedIndex& index,
                 const std::function<void()>& add_fan_out);
  /// What is left of the piece becomes a job.
  void step_aside(SourceTransaction& transaction, Piece& piece, const std::string& reason);
  /// Of documents of one index that are to be rendered.
  std::size_t most_bytes() const;
  void render(SourceTransaction& transaction, StepDocuments& documents);
  void render(SourceTransaction& transaction, StepDocuments& documents, Piece& piece,
              std::int64_t most_documents);

  const std::int64_t chunk_documents_;
  const std::int64_t fan_out_threshold_;
  const std::size_t bulk_bytes_;
  const AppliedPipeline& pipeline_;
  SetAside& set_aside_;
  const HeldIndices& held_;
  ChangeLog& changes_;
  DocumentWriter& writer_;
  Checkpoint& checkpoint_;
  VersionCounter& versions_;
  ProgressBoard& board_;
  const Jobs jobs_;
  const int most_behind_slow_write_;
  SlowIndices slow_;
  ReadingLimit limit_;
  ChunkSize chunk_size_;

  Position position_;           // read up to here
  Position chunk_begin_;        // where the chunk that was read last begins
  std::deque<Piece> pieces_;    // of the chunk that was read last
  StepEnd end_;                 // what holds when the last of pieces_ is acknowledged
  bool is_first_step_ = false;  // of the first chunk after a rest
  std::map<IndexId, Rendering> renderings_;
  std::vector<std::pair<IndexId, std::string>> to_set_aside_;  // by the transaction that is open, and why
  std::map<IndexId, int> held_back_;                           // chunks with changes of an index since then
  bool at_end_ = false;
  std::int64_t batches_ = 0;
  std::set<CaptureId> unknown_captures_;
};

}  // namespace lockstep
