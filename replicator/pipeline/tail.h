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
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/held_indices.h"
#include "replicator/pipeline/rendering.h"
#include "replicator/pipeline/set_aside.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/change_log.h"

namespace lockstep {

class Tail {
 public:
  /// Goes on at the checkpoint. Tells `add_job` which jobs a large change or a truncated table became. All
  /// references must outlive this.
  Tail(const Config& config, const AppliedPipeline& pipeline, SetAside& set_aside, const HeldIndices& held,
       ChangeLog& changes, DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions,
       std::function<void(Job)> add_job);

  /// One transaction: true when it found work. False: nothing was committed since the last turn, the writer
  /// has no room for documents now, or changes gather behind those that were sent just before.
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

  bool read(SourceTransaction& transaction);
  void resolve(SourceTransaction& transaction, const std::vector<CapturedChange>& changes);
  void separate(SourceTransaction& transaction, const AppliedIndex& index,
                const std::vector<CapturedChange>& changes);
  void make_jobs(SourceTransaction& transaction, const LargeTransaction& large);
  void hold_back(SourceTransaction& transaction, const AppliedIndex& index,
                 const std::function<void()>& add_fan_out);
  void render(SourceTransaction& transaction, StepDocuments& documents);

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
  std::function<void(Job)> add_job_;

  Position position_;           // read up to here
  Position chunk_begin_;        // where the chunk that was read last begins
  std::deque<Piece> pieces_;    // of the chunk that was read last
  StepEnd end_;                 // what holds when the last of pieces_ is acknowledged
  bool is_first_step_ = false;  // of the first chunk after a rest
  std::map<IndexId, Rendering> renderings_;
  std::vector<std::pair<IndexId, std::string>> to_set_aside_;  // by the transaction that is open, and why
  std::map<IndexId, int> held_back_;  // chunks with changes of an index since it is held
  bool at_end_ = false;
  std::int64_t batches_ = 0;
  std::set<CaptureId> unknown_captures_;
};

}  // namespace lockstep
