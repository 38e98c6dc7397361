// Works off the jobs beside the tail, a page a turn, each page from a fresh snapshot under its own version:
// backfills of new indices, comparisons of old ones, changes of more documents than a batch should hold, and
// sweeps for documents that no view has. What has been acknowledged survives a restart; a sweep begins anew.
//
// A comparison leaves alone what is equal. A write that is still on its way may change such a document: of
// this process, then the tail has a later change of it before it, or of a deposed one, whose unacknowledged
// changes the tail repeats.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/document_reader.h"
#include "replicator/pipeline/checkpoint.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/jobs/background_share.h"
#include "replicator/pipeline/set_aside.h"
#include "replicator/pipeline/version_counter.h"
#include "replicator/source/source.h"

namespace lockstep {

class JobRunner {
 public:
  /// All references must outlive this.
  JobRunner(const Config& config, const AppliedPipeline& pipeline, const SetAside& set_aside, Source& source,
            DocumentWriter& writer, Checkpoint& checkpoint, VersionCounter& versions,
            ElasticsearchClient& elasticsearch);

  /// A job that it has already is left alone.
  void add(Job job);

  /// Reads one page of one job, in turn, and hands it over, now or when there is room for it: true when it
  /// did one or the other.
  bool turn(const std::stop_token& stop);

  /// Whether every job has been acknowledged and its end saved, but for those of indices that are set aside.
  bool all_done() const;

  /// To be called after a save: forgets the jobs that it has finished.
  void saved(const Acknowledged& acknowledged);

  /// For `status`.
  std::vector<std::pair<int, JobStatus>> progress() const;

 private:
  struct RunningJob {
    Job job;
    const AppliedIndex* index = nullptr;
    std::optional<std::string> read_to;  // position behind what has been handed over
    Values left_over;                    // ids of the page in hand that are not rendered yet
    std::string page_position;           // position behind the page in hand
    bool last_page = false;              // nothing is behind the page in hand
    bool begun = false;                  // by this process, and in the source
    bool read_all = false;
    std::int64_t rendered = 0;           // documents handed over by this process
    std::unique_ptr<DocumentScan> scan;  // of a sweep
  };

  /// A page that waits until Elasticsearch has room.
  struct ReadPage {
    Lane lane;
    StepDocuments documents;
    StepEnd end;
  };

  bool has(std::int64_t job) const;
  bool has_room();
  bool read_page();
  bool read_page(RunningJob& job);
  JobProgress backfill(RunningJob& job, SourceTransaction& transaction, StepDocuments& documents);
  JobProgress replay(RunningJob& job, SourceTransaction& transaction, StepDocuments& documents);
  JobProgress sweep(RunningJob& job, SourceTransaction& transaction, StepDocuments& documents,
                    const std::vector<FoundDocument>& found);
  void remove_stale(const AppliedIndex& index, SourceTransaction& transaction, StepDocuments& documents,
                    const std::vector<FoundDocument>& found);
  std::vector<FoundDocument> next_found(RunningJob& job);
  std::int64_t next_different(RunningJob& job);
  JobProgress progress_of(const RunningJob& job) const;

  const AppliedPipeline& pipeline_;
  const SetAside& set_aside_;
  Source& source_;
  DocumentWriter& writer_;
  Checkpoint& checkpoint_;
  VersionCounter& versions_;
  ElasticsearchClient& elasticsearch_;
  const std::size_t most_requests_;  // in flight
  BackgroundShare share_;
  std::int64_t page_documents_ = 0;  // of the page in hand, at most
  std::int64_t page_bytes_ = 0;      // of the page in hand, about
  std::list<RunningJob> jobs_;       // the front one has its turn
  std::optional<ReadPage> ready_;
};

}  // namespace lockstep
