// Follows the changes: reads what has become visible, finds the documents, renders them and hands them over,
// a bounded piece a transaction.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <utility>

#include "replicator/config/config.h"
#include "replicator/pipeline/checkpoint.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/set_aside.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/source.h"

namespace lockstep {

class Tail {
 public:
  /// Goes on at `position`. `add_job` is told of jobs that a large change or a truncated table has become.
  /// All references must outlive this.
  Tail(const Config& config, const AppliedPipeline& pipeline, const SetAside& set_aside, Source& source,
       DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions, Position position,
       std::function<void(Job)> add_job);

  /// One transaction: true when it found work. False: nothing has been committed since the last turn, or
  /// there is no room for more documents just now.
  bool turn(const std::stop_token& stop);

  /// Whether the last turn has seen the end of what was committed then.
  bool at_end() const { return at_end_; }

  /// Everything up to here has been read, and handed over when idle() says so, though perhaps not
  /// acknowledged.
  const Position& position() const { return position_; }
  bool idle() const { return slices_.empty(); }

  std::int64_t batches() const { return batches_; }

 private:
  struct Slice {
    const AppliedIndex* index;
    Values ids;
  };

  bool read(SourceTransaction& transaction, std::vector<Job>& new_jobs);
  void resolve(SourceTransaction& transaction, const std::vector<CapturedChange>& changes,
               std::vector<Job>& new_jobs);
  void render(SourceTransaction& transaction, StepDocuments& documents);

  const std::int64_t chunk_documents_;
  const std::int64_t fan_out_threshold_;
  const std::size_t bulk_bytes_;
  const AppliedPipeline& pipeline_;
  const SetAside& set_aside_;
  Source& source_;
  DocumentWriter& writer_;
  Checkpoint& checkpoint_;
  VersionCounter& versions_;
  std::function<void(Job)> add_job_;

  Position position_;         // read up to here
  std::deque<Slice> slices_;  // documents of what was read last that are not rendered yet
  StepEnd end_;               // what holds when the last of slices_ is acknowledged
  bool at_end_ = false;
  std::int64_t batches_ = 0;
};

}  // namespace lockstep
