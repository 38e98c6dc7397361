#include "replicator/pipeline/replicate.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/error.h"
#include "replicator/pipeline/checkpoint.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/jobs/job_runner.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/pipeline/refresher.h"
#include "replicator/pipeline/refused_share.h"
#include "replicator/pipeline/set_aside.h"
#include "replicator/pipeline/tail.h"
#include "replicator/pipeline/target_watch.h"
#include "replicator/pipeline/wake_up.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr auto kBusyFor = 1s;                                 // after a change
constexpr std::chrono::milliseconds kBusyPollInterval = 2ms;  // at most, while the next change may come soon
constexpr std::chrono::milliseconds kBusyLookInterval = 1ms;  // likewise, when the source looks itself
constexpr auto kQuietAfter = 1min;                            // from then on half the looks will do
constexpr auto kLongestWait = 200ms;                          // for a change, without a look at anything else
constexpr auto kReportInterval = 100ms;                       // between updates of the board
constexpr std::chrono::milliseconds kSaveIdleAfter =
    100ms;                            // what has been acknowledged is saved when nothing else does it,
                                      // or at once while somebody waits for it
constexpr auto kSaveQuietAfter = 5s;  // a position that moved over nothing of ours
constexpr auto kPruneInterval = 30s;
constexpr auto kJobsInterval = 1s;          // between looks for jobs that others have added
constexpr auto kSourceInterval = 2s;        // between looks for an `apply` and for changes that were given up
constexpr auto kLookAgainInterval = 10s;    // between looks whether views that failed can be read again
constexpr auto kDifferencesInterval = 15s;  // between looks for missing triggers and replaced views
constexpr auto kTargetInterval = 10s;       // between looks whether the indices are still the same
constexpr auto kNoteInterval = 60s;         // between notes in the indices of how far the source has come
constexpr auto kRecountInterval =
    10s;                         // between counts of dead letters, which others may discard, and of bytes
constexpr auto kStopGrace = 3s;  // for bulks in flight at a stop

BulkWriter::Options bulk_options(const Config& config, TargetWatch& targets) {
  BulkWriter::Options options;
  options.may_send = [&targets] { return targets.is_recent(); };
  options.bulks_in_flight = config.elasticsearch.bulks_in_flight;
  options.bulk_bytes = static_cast<std::size_t>(config.elasticsearch.bulk_bytes);
  options.request_timeout = config.elasticsearch.request_timeout;
  return options;
}

class Replication {
 public:
  Replication(const Config& config, Source& source, const BulkWriter::TransportFactory& make_transport,
              ProgressBoard& board)
      : config_(config),
        source_(source),
        board_(board),
        pipeline_(load_applied(config, source)),
        elasticsearch_(make_transport()),
        versions_(take_epoch(pipeline_, source, elasticsearch_)),
        targets_(pipeline_, versions_.epoch(), source.known_partners().targets, make_transport(),
                 config.elasticsearch.request_timeout, kTargetInterval),
        bulks_(bulk_options(config, targets_), make_transport),
        writer_(bulks_, board, pipeline_),
        checkpoint_(writer_, versions_, RefusedShare(config.replication.max_refused_share, pipeline_)),
        set_aside_(pipeline_, source, versions_.epoch()),
        jobs_(config, pipeline_, set_aside_, source, writer_, checkpoint_, versions_, elasticsearch_),
        tail_(config, pipeline_, set_aside_, source, writer_, checkpoint_, versions_, source.load_position(),
              [this](Job job) { jobs_.add(std::move(job)); }) {
    bulks_.on_finished([this] { wake_up_.wake(); });
    if (config.replication.refresh == ReplicationConfig::Refresh::kAfterBatch) {
      refresher_.emplace(pipeline_, make_transport(), config.elasticsearch.request_timeout,
                         [this] { wake_up_.wake(); });
      writer_.refresh_with(*refresher_);
    }
    checkpoint_.on_saved([this](const Acknowledged& saved) { after_save(saved); });
    require_nothing_given_up();
    take_jobs();
    for (const AppliedIndex& index : pipeline_.indices) {
      checkpoint_.begin_trial(index.id, count_dead_letters(index.id));
    }
    rows_before_ = board_.read().rows;
    batches_before_ = board_.read().batches;
    spdlog::info("leading pipeline {} under epoch {}: {} indices, {} jobs", pipeline_.name,
                 versions_.epoch().value, pipeline_.indices.size(), jobs_.progress().size());
    report();
  }

  void run(RunUntil until, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      writer_.settle(0ms);
      const bool worked = take_turns(stop);
      if (!worked && writer_.idle()) checkpoint_.end_trial();
      keep_house();
      if (worked) continue;
      if (until == RunUntil::kCaughtUp && caught_up()) break;
      wait_for_work(stop);
    }
    finish();
  }

 private:
  void wait_for_work(const std::stop_token& stop) {
    const SteadyTime now = std::chrono::steady_clock::now();
    const std::chrono::milliseconds configured = config_.replication.poll_interval;
    const auto quiet = now - followed_at_;
    const bool anything_in_hand =
        !tail_.at_end() || !tail_.idle() || !writer_.idle() || !jobs_.all_done() || source_.is_awaited();
    if (anything_in_hand) {
      wake_up_.wait(quiet < kBusyFor ? std::min(kBusyPollInterval, configured) : configured, stop);
    } else if (quiet < kBusyFor) {
      // What has been acknowledged is to be saved in time.
      const auto unsaved = std::chrono::ceil<std::chrono::milliseconds>(checkpoint_.age(now));
      const auto at_most = writer_.has_news() ? std::max(kSaveIdleAfter - unsaved, 1ms) : kSaveIdleAfter;
      source_.await_change(tail_.position(), std::min(kBusyLookInterval, configured), at_most);
    } else {
      source_.await_change(tail_.position(), quiet < kQuietAfter ? configured : 2 * configured, kLongestWait);
    }
  }

  bool take_turns(const std::stop_token& stop) {
    try {
      const bool followed = tail_.turn(stop);
      if (followed) followed_at_ = std::chrono::steady_clock::now();
      return jobs_.turn(stop) || followed;
    } catch (const ViewError& error) {
      set_aside_.add(error);
    }
  }

  bool caught_up() {
    if (!tail_.at_end() || !tail_.idle() || !writer_.idle() || writer_.has_news()) return false;
    if (!jobs_.all_done()) return false;
    require_nothing_given_up();
    if (!set_aside_.empty()) {
      throw Error({"catching up", "not all indices could be followed: " + set_aside_.text(),
                   "mend the views, or run `lockstep apply` when they are meant to be what they are"});
    }
    return !source_.has_given_up();
  }

  void keep_house() {
    const SteadyTime now = std::chrono::steady_clock::now();
    const auto unsaved = checkpoint_.age(now);
    const auto save_after = source_.is_awaited() ? 0ms : kSaveIdleAfter;
    if (tail_.idle() && ((writer_.has_news() && unsaved >= save_after) || unsaved >= kSaveQuietAfter)) {
      checkpoint_.save(source_, tail_.position());
    }
    if (prune_.due(now)) source_.prune();
    if (take_jobs_.due(now)) take_jobs();
    if (look_at_source_.due(now)) {
      require_same_revision();
      require_nothing_given_up();
    }
    if (look_again_.due(now)) {
      for (Job& job : set_aside_.look_again()) jobs_.add(std::move(job));
    }
    if (compare_with_applied_.due(now)) warn_of_differences();
    targets_.require_same_targets();
    if (note_.due(now)) note_progress();
    if (recount_all_.due(now)) {
      for (const auto& [id, index] : board_.read().indices) {
        if (index.dead_letters > 0) recount_.push_back(id);
      }
      measure_outbox();
    }
    if (report_.due(now)) report();
  }

  /// Those that are waiting, whoever has added them.
  void take_jobs() {
    std::vector<Job> jobs = source_.load_jobs();
    // The jobs of an `apply` are for its definitions; it adds them in the transaction that changes these.
    if (!jobs.empty()) require_same_revision();
    for (Job& job : jobs) jobs_.add(std::move(job));
  }

  void require_same_revision() {
    if (source_.revision() == pipeline_.revision) return;
    throw Error({"following changes", "the pipeline was applied anew", "it is loaded again", Retry::kLater});
  }

  // When the outbox was full the triggers have left something out: everything is compared.
  void require_nothing_given_up() {
    if (!source_.has_given_up() || !source_.make_good()) return;
    throw Error({"following changes",
                 "the outbox had reached replication.max_outbox_size, and changes were given up",
                 "every index is compared with its view", Retry::kLater});
  }

  void warn_of_differences() {
    std::vector<std::string> warnings = source_.differences_from_applied();
    std::vector<std::string> known = board_.read().warnings;
    for (const std::string& warning : warnings) {
      if (std::find(known.begin(), known.end(), warning) == known.end()) spdlog::warn("{}", warning);
    }
    board_.update([&](ReplicationProgress& progress) { progress.warnings = std::move(warnings); });
  }

  // Nothing new: the indices have it already.
  void note_progress() {
    const std::int64_t rows = writer_.acknowledgements().rows();
    if (std::exchange(noted_rows_, rows) != rows) targets_.note(source_mark(source_.identity()));
  }

  void measure_outbox() {
    const std::int64_t bytes = source_.outbox_size();
    board_.update([&](ReplicationProgress& progress) { progress.outbox_bytes = bytes; });
  }

  /// The bulks in flight get their outcomes, as far as they come in time; the rest is done again by whoever
  /// leads next.
  void finish() {
    bulks_.stop(kStopGrace);
    writer_.settle(0ms);
    if (tail_.idle()) checkpoint_.save(source_, tail_.position());
    report();
  }

  void after_save(const Acknowledged& saved) {
    jobs_.saved(saved);
    for (const DeadLetter& letter : saved.refused) {
      spdlog::warn("index {}: document {} was refused and is a dead letter: {}: {}", alias_of(letter.index),
                   letter.id, letter.error_type, letter.reason);
      recount_.push_back(letter.index);
    }
    for (const AcknowledgedWrite& write : saved.no_longer_refused) recount_.push_back(write.index);
    std::sort(recount_.begin(), recount_.end());
    recount_.erase(std::unique(recount_.begin(), recount_.end()), recount_.end());
  }

  std::int64_t count_dead_letters(int index) {
    const std::int64_t count = source_.dead_letters(index);
    if (count == 0)
      writer_.expect_no_dead_letters(index);
    else
      writer_.expect_dead_letters(index);
    board_.update([&](ReplicationProgress& progress) { progress.indices[index].dead_letters = count; });
    return count;
  }

  const std::string& alias_of(int index) const {
    return std::find_if(pipeline_.indices.begin(), pipeline_.indices.end(),
                        [&](const AppliedIndex& candidate) { return candidate.id == index; })
        ->alias;
  }

  void report() {
    const SteadyTime now = std::chrono::steady_clock::now();
    for (const int index : std::exchange(recount_, {})) count_dead_letters(index);
    const BulkWriterState bulks = bulks_.state();
    const std::optional<SteadyTime> oldest = writer_.acknowledgements().oldest_change();
    const auto jobs = jobs_.progress();
    const bool backfilling = std::any_of(
        jobs.begin(), jobs.end(), [](const auto& job) { return job.second.kind == JobKind::kBackfill; });
    board_.update([&](ReplicationProgress& progress) {
      progress.state = bulks.waiting ? PipelineState::kWaitingForElasticsearch
                       : backfilling ? PipelineState::kBackfilling
                                     : PipelineState::kFollowing;
      progress.reason = bulks.reason;
      progress.epoch = versions_.epoch();
      for (const AppliedIndex& index : pipeline_.indices) {
        progress.indices[index.id].alias = index.alias;
        progress.indices[index.id].set_aside = set_aside_.contains(index.id);
        progress.indices[index.id].jobs.clear();
      }
      for (const auto& [index, job] : jobs) progress.indices[index].jobs.push_back(job);
      progress.rows = rows_before_ + writer_.acknowledgements().rows();
      progress.batches = batches_before_ + tail_.batches();
      progress.pending = oldest.has_value() || !tail_.idle() || !tail_.at_end();
      progress.lag = oldest ? std::chrono::duration_cast<std::chrono::microseconds>(now - *oldest) : 0us;
      progress.turned_at = now;
      if (!progress.pending && jobs.empty()) progress.advanced_at = now;
    });
  }

  const Config& config_;
  Source& source_;
  ProgressBoard& board_;
  const AppliedPipeline pipeline_;
  ElasticsearchClient elasticsearch_;
  VersionCounter versions_;
  TargetWatch targets_;
  WakeUp wake_up_;  // outlives bulks_ and refresher_, whose threads call it
  BulkWriter bulks_;
  std::optional<Refresher> refresher_;
  DocumentWriter writer_;
  Checkpoint checkpoint_;
  SetAside set_aside_;
  JobRunner jobs_;
  Tail tail_;
  const SteadyTime begun_ = std::chrono::steady_clock::now();
  Every report_{kReportInterval};
  Every prune_{kPruneInterval, begun_};
  Every take_jobs_{kJobsInterval, begun_};
  Every look_at_source_{kSourceInterval};
  Every look_again_{kLookAgainInterval, begun_};
  Every compare_with_applied_{kDifferencesInterval};
  Every note_{kNoteInterval, begun_};
  Every recount_all_{kRecountInterval};
  SteadyTime followed_at_{};     // when the tail last found work
  std::int64_t noted_rows_ = 0;  // of the outbox, when the indices were last told
  std::vector<int> recount_;     // indices whose dead letters may have changed
  std::int64_t rows_before_ = 0;
  std::int64_t batches_before_ = 0;
};

}  // namespace

void replicate(const Config& config, Source& source, const BulkWriter::TransportFactory& make_transport,
               ProgressBoard& board, RunUntil until, const std::stop_token& stop) {
  Replication(config, source, make_transport, board).run(until, stop);
}

}  // namespace lockstep
