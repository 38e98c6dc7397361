// Takes reindexes from state to state (source/reindexes.h): a second generation of an index is made, filled
// while changes continue, compared, swapped in, and the other one followed on, so that the way back is as
// short.
//
// X4. The alias moves only to a generation that has no more to be written than the live one, was compared
//     with its view, refuses nothing that the live one has and gives everything back as it was written
//     (jobs/comparison.h), takes writes and is as healthy; and from where it is expected. The operator can
//     force only refused documents and a moved alias. If the live one is gone there is nothing to compare
//     with, and the other one takes its place as it is.
// X5. Every step is a row in the source, and finds the remains of an interrupted step in Elasticsearch. So it
//     can be cut off anywhere, and another process continues.
// X6. A step that fails is tried again, with its reason in the source; it delays nothing else.
// X7. In every state the alias is looked at, and reported unless it points to the live generation. The other
//     one is given up only if the alias points to the live one, or if it is neither searched nor complete.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replicator/background.h"
#include "replicator/clock.h"
#include "replicator/config/config.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/admin/generations.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/pipeline/isolation/standing.h"
#include "replicator/pipeline/jobs/job_runner.h"
#include "replicator/pipeline/progress.h"
#include "replicator/source/source.h"

namespace lockstep {

/// Whether a generation lacks a write that the live one has: it is due of the former since before all due
/// work of the latter. Both lists as one snapshot has them. A change that makes documents of both due has the
/// lesser number in the live one's, which was there before.
bool is_behind(const std::optional<DueList>& beside, const std::optional<DueList>& live);

/// For one thread, the pipeline's. Its requests to Elasticsearch wait in a thread of its own.
class Reindexing {
 public:
  struct Parts {
    const Config& config;
    const AppliedPipeline& pipeline;
    Source& source;
    const Standing& standing;
    JobRunner& jobs;
    ProgressBoard& board;
  };

  /// All of `parts` must outlive this. `on_answer` is called from the other thread.
  Reindexing(const Parts& parts, Epoch epoch, std::unique_ptr<HttpTransport> transport,
             std::function<void()> on_answer);
  /// Cuts off its requests to Elasticsearch.
  ~Reindexing();
  Reindexing(const Reindexing&) = delete;
  Reindexing& operator=(const Reindexing&) = delete;

  /// Takes the next step of every reindex that can continue. True: the pipeline's generations have changed,
  /// so it must be loaded again. Throws Error if the source cannot be asked, Deposed.
  bool turn();

  /// Whether a step since the last call has added jobs.
  bool take_added_jobs() { return std::exchange(added_jobs_, false); }

  /// Whether no reindex is on its way, as of the last turn: each is kept or has failed.
  bool at_rest() const { return at_rest_; }

  /// Whether Elasticsearch is asked, so that the next turn may take its answer.
  bool awaits_answer() const { return asked_.has_value(); }

  /// The most documents a second that may be written or compared to fill these generations, as of the last
  /// turn.
  std::map<IndexId, std::int64_t> max_rates() const;

  /// The aliases that do not point to the generation that searchers should see, and the remedy; as of the
  /// last look.
  std::vector<std::string> misplaced_aliases() const;

  /// Which reindexes wait for a person, as of the last turn; empty: none.
  const std::string& stuck() const { return stuck_; }

 private:
  /// The step of the pipeline's thread once Elasticsearch has answered.
  using Conclusion = std::function<void()>;

  /// The findings of the last look at both indices of a reindex.
  struct Seen {
    std::optional<SteadyTime> at;
    bool live_is_gone = false;
    std::string misplaced;    ///< empty: the alias points to the live generation
    SteadyTime not_before{};  ///< after a failure, so that the others have their turn
  };

  struct Asked {
    ReindexId reindex;
    Background<Conclusion> answer;
  };

  void read();
  void tell();
  bool take_answer();
  std::vector<Reindex> in_turn() const;
  void act_or_wait(const Reindex& reindex);
  void act(const Reindex& reindex);
  void create(const Reindex& reindex);
  void fill(const Reindex& reindex);
  void swap(const Reindex& reindex);
  void keep(const Reindex& reindex);
  void drop(const Reindex& reindex);
  void prepare(const Reindex& reindex);
  bool look(const Reindex& reindex);
  void judge(const Reindex& reindex, const AliasState& standing);
  void let_go(const Reindex& reindex, std::string failure = {});

  bool has_work(const Reindex& reindex, const UnfinishedJobs& jobs);
  bool lacks_due(const Reindex& reindex);
  std::int64_t refused_by(IndexId index);
  std::string too_many_refused(const DeadLetterFilter& its, std::int64_t documents);
  std::string too_many_refused_so_far(const Reindex& reindex, const UnfinishedJobs& jobs);
  void judge_filled(const Reindex& reindex);
  std::string obstacle(const Reindex& reindex);
  std::string reshaped(const Reindex& reindex);
  DesiredIndex desired(const Reindex& reindex) const;
  void ask(const Reindex& reindex, std::function<Conclusion(ElasticsearchClient&)> question);
  void advance(const Reindex& reindex, const ReindexStep& step);
  void wait_for_a_person(const Reindex& reindex, const std::string& reason);
  void note_work(const Reindex& reindex);
  void note(const Reindex& reindex, const std::string& reason);

  const Parts parts_;
  const Epoch epoch_;
  const std::function<void()> on_answer_;
  ElasticsearchClient elasticsearch_;
  std::optional<Asked> asked_;  // uses elasticsearch_
  ReindexId last_asked_;
  std::vector<Reindex> all_;                 // as of the last turn
  std::map<std::string, std::string> told_;  // the board's version of them
  std::map<ReindexId, Seen> seen_;
  bool at_rest_ = true;
  bool changed_pipeline_ = false;
  bool added_jobs_ = false;
  std::string stuck_;
};

}  // namespace lockstep
