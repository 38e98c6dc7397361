#include "replicator/pipeline/replicate.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/error.h"
#include "replicator/log/log.h"
#include "replicator/pipeline/checkpoint.h"
#include "replicator/pipeline/document_writer.h"
#include "replicator/pipeline/foreign_writes.h"
#include "replicator/pipeline/housekeeping.h"
#include "replicator/pipeline/isolation/held_indices.h"
#include "replicator/pipeline/isolation/set_aside.h"
#include "replicator/pipeline/jobs/job_runner.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/pipeline/look_pace.h"
#include "replicator/pipeline/progress_report.h"
#include "replicator/pipeline/refresher.h"
#include "replicator/pipeline/refusal_log.h"
#include "replicator/pipeline/refused_share.h"
#include "replicator/pipeline/reindexing.h"
#include "replicator/pipeline/tail.h"
#include "replicator/pipeline/target_watch.h"
#include "replicator/pipeline/wake_up.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kBusyFor = 1s;                       // after a change the next one is likely to come soon
constexpr milliseconds kBusyPollInterval = 2ms;     // then this process checks so often, at most
constexpr milliseconds kBusyCheckInterval = 1ms;    // likewise, where the source itself checks
constexpr milliseconds kBusyWait = 100ms;           // for a change, while the next one is likely to come soon
constexpr auto kSaveQuietAfter = 5s;                // saves a position that passed no change of ours,
constexpr auto kSaveEmptyAfter = 30s;               // or where it lets next to nothing be pruned
constexpr std::int64_t kNextToNothing = 1'000'000;  // bytes of the outbox
constexpr auto kTargetInterval = 10s;               // between looks whether the indices are still the same
constexpr std::int64_t kDeadLettersAtOnce = 1'000;
constexpr auto kPatience = 2s;        // with one document, while its index takes others
constexpr auto kStopGrace = 3s;       // for bulks in flight at a stop
constexpr auto kNotePatience = 1s;    // with Elasticsearch, at a stop
constexpr auto kQuietPatience = 1s;   // of a leader that has to look at both sides again
constexpr auto kWriteSurvives = 30s;  // its time-out: in Elasticsearch's queues, when its sender has died

BulkWriter::Options bulk_options(const Config& config, const AppliedPipeline& pipeline,
                                 TargetWatch& targets) {
  BulkWriter::Options options;
  options.indices = pipeline.indices.size();
  for (const AppliedIndex& index : pipeline.indices) options.targets.push_back({index.id, index.target()});
  options.may_send = [&targets] { return targets.is_recent(); };
  options.bulks_in_flight = config.elasticsearch.bulks_in_flight;
  options.bulk_bytes = static_cast<std::size_t>(config.elasticsearch.bulk_bytes);
  options.request_timeout = config.elasticsearch.request_timeout;
  options.patience = kPatience;
  options.background_patience = kPatience;
  return options;
}

// Until then a write of the last leader may land.
SteadyTime write_lifetime_over(const Config& config, const KnownPartners& last) {
  if (last.place.empty() || last.quiet) return {};
  return std::chrono::steady_clock::now() + config.elasticsearch.request_timeout + kWriteSurvives;
}

class Replication {
 public:
  Replication(const Config& config, Source& source, const BulkWriter::TransportFactory& make_transport,
              ProgressBoard& board)
      : config_(config),
        source_(source),
        changes_(source.changes()),
        pipeline_(load_applied(config, source)),
        board_(board),
        elasticsearch_(make_transport()),
        write_lifetime_over_(write_lifetime_over(config, source.lead().known_partners())),
        lead_(take_epoch(pipeline_, source, elasticsearch_)),
        versions_(lead_.epoch),
        source_tables_(source.lead().identity().tables),
        targets_(pipeline_, versions_.epoch(), source.lead().known_partners().targets, make_transport(),
                 config.elasticsearch.request_timeout, kTargetInterval),
        bulks_(bulk_options(config, pipeline_, targets_), make_transport),
        writer_(bulks_, board, pipeline_),
        held_(pipeline_, make_transport(), [this] { wake_up_.wake(); }),
        foreign_(pipeline_, versions_.epoch(), board, make_transport(), config.elasticsearch.request_timeout,
                 [this] { wake_up_.wake(); }),
        checkpoint_(pipeline_, changes_, writer_, board, versions_.epoch(),
                    RefusedShare(config.replication.max_refused_share, pipeline_)),
        set_aside_(pipeline_, changes_, versions_.epoch()),
        jobs_(
            config, pipeline_, set_aside_, held_, changes_, writer_, checkpoint_, versions_, board,
            [make_transport, timeout = config.elasticsearch.request_timeout] {
              return std::make_shared<ElasticsearchClient>(make_transport(), timeout);
            },
            write_lifetime_over_, [this] { wake_up_.wake(); }),
        tail_(config, pipeline_, set_aside_, held_, changes_, writer_, checkpoint_, versions_, board,
              {[this](Job job) { jobs_.add(std::move(job)); }, [this](JobId job) { return jobs_.has(job); }}),
        refusals_(pipeline_),
        reindexing_({config, pipeline_, source, set_aside_, held_, jobs_, board}, versions_.epoch(),
                    make_transport(), [this] { wake_up_.wake(); }),
        report_({pipeline_, source, bulks_, writer_, set_aside_, held_, jobs_, tail_}, versions_.epoch(),
                board),
        housekeeping_(chores(), std::chrono::steady_clock::now()) {
    bulks_.on_finished([this] { wake_up_.wake(); });
    if (config.replication.refresh == ReplicationConfig::Refresh::kAfterBatch) {
      refresher_.emplace(pipeline_, make_transport(), config.elasticsearch.request_timeout,
                         [this] { wake_up_.wake(); });
      writer_.refresh_with(*refresher_);
    }
    writer_.on_held(
        [this](const DocumentKey& document, const std::string& reason) { held_.hold(document, reason); });
    writer_.on_foreign([this](const DocumentKey& document, RecentWrites::Owner owner) {
      foreign_.note(document.index, {document.id, document.routing}, owner);
    });
    checkpoint_.on_parked([this](const std::vector<Job>& jobs) {
      for (const Job& job : jobs) jobs_.add_parked(job, std::chrono::steady_clock::now());
    });
    checkpoint_.on_saved([this](const Acknowledged& saved) { after_save(saved); });
    for (const auto& [index, why] : lead_.unfit) set_aside_.keep(index, why);
    targets_.note(source_mark(source_.lead().identity()));  // where a block kept the mark out until now
    require_nothing_given_up();
    follow_parts();
    limit_rates();
    take_jobs();
    for (const AppliedIndex& index : pipeline_.indices)
      checkpoint_.begin_trial(index.id, report_.count_dead_letters(index.id));
    set_log_field("epoch", std::to_string(versions_.epoch().value));
    spdlog::info("leading pipeline {} under epoch {}: {} indices, {} jobs", pipeline_.name,
                 versions_.epoch().value, pipeline_.indices.size(), jobs_.progress().size());
    board_.update([&](ReplicationProgress& progress) {
      progress.outbox_max_bytes = config.replication.max_outbox_size;
    });
    report_.update();
  }

  void run(RunUntil until, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      writer_.take_outcomes(0ms);
      const bool worked = take_turns();
      if (!worked && writer_.idle() && !jobs_.has_page_in_hand()) checkpoint_.end_trials();
      save_when_due();
      rise_above_foreign_versions();
      require_same_targets();
      housekeeping_.run(std::chrono::steady_clock::now(),
                        changes_.stood_still() ? SourceSince::kStoodStill : SourceSince::kUnknown);
      if (worked) continue;
      if (until == RunUntil::kCaughtUp && caught_up()) break;
      wait_for_work(stop);
    }
    finish();
    if (until == RunUntil::kCaughtUp) require_filled();
  }

 private:
  std::vector<Chore> chores() {
    using enum Chore::First;
    using enum Chore::Cause;
    return {
        {30s, kAfterInterval, [this] { source_.outbox().prune(); }, "the outbox only grows otherwise"},
        {200ms, kAfterInterval, [this] { source_.outbox().keep_small(); },
         "what is consumed must not use up the outbox's limit"},
        {1s, kAfterInterval, [this] { take_jobs(); }, "`apply` and others add jobs", kCommit},
        {2s, kAtOnce, [this] { require_same_revision(); }, "an `apply` changes what is followed", kCommit},
        {2s, kAtOnce, [this] { require_nothing_given_up(); }, "a full outbox drops changes"},
        {1s, kAfterInterval, [this] { go_on_with_reindexes(); }, "people start reindexes", kCommit},
        {200ms, kAfterInterval,
         [this] {
           if (!reindexing_.at_rest() || reindexing_.awaits_answer()) go_on_with_reindexes();
         },
         "their steps end"},
        {10s, kAfterInterval, [this] { take_back_readable(); }, "somebody may have mended a view or a job"},
        {2s, kAfterInterval, [this] { follow_parts(); },
         "no trigger fires for a partition that comes or goes", kCommit},
        {10s, kAfterInterval, [this] { require_same_tables(); }, "somebody may restore a dump"},
        {15s, kAtOnce, [this] { report_.find_differences(); }, "a missing trigger loses changes silently"},
        {5s, kAfterInterval, [this] { retry_dead_letters(); }, "an overload may be over"},
        {60s, kAfterInterval, [this] { note_progress(); },
         "the next leader must see if the source went back"},
        {10s, kAtOnce, [this] { report_.recount_dead_letters(); }, "others discard dead letters"},
        {10s, kAtOnce, [this] { report_.measure_outbox(); }, "its size is for operators", kCommit},
        {10s, kAfterInterval, [this] { tell_refusals(); }, "lines about refusals are summed"},
        {100ms, kAtOnce, [this] { report_.update(); }, "`status`, metrics and health read the board"},
    };
  }

  // A view that fails stops its own index only: the tail reads its chunk again without it.
  bool take_turns() {
    bool followed = false;
    try {
      followed = tail_.turn();
    } catch (const ViewError& error) {
      tail_.rewind();
      set_aside(error);
      return true;
    }
    if (followed) followed_at_ = std::chrono::steady_clock::now();
    try {
      return jobs_.turn() || followed;
    } catch (const ViewError& error) {
      set_aside(error);
      return true;
    }
  }

  void set_aside(const ViewError& error) {
    set_aside_.add(error.index(), error.what());
    jobs_.forget(error.index());
  }

  void set_aside(const UnreadableJob& job) {
    set_aside_.add(job.index, job.why);
    jobs_.forget(job.index);
  }

  void save_when_due() {
    const auto unsaved = checkpoint_.age(std::chrono::steady_clock::now());
    const milliseconds save_after = changes_.is_awaited() ? 0ms : checkpoint_.pace().idle;
    const bool is_due = (writer_.has_news() && unsaved >= save_after) ||
                        (unsaved >= kSaveQuietAfter && (unsaved >= kSaveEmptyAfter || !has_small_outbox()));
    if (is_due && tail_.idle()) checkpoint_.save(tail_.position());
  }

  // Other pipelines' rows among them, which wait for this one's checkpoint.
  bool has_small_outbox() const { return board_.read().outbox_bytes < kNextToNothing; }

  void wait_for_work(const std::stop_token& stop) {
    const SteadyTime now = std::chrono::steady_clock::now();
    const milliseconds configured = config_.replication.poll_interval;
    const auto quiet = now - followed_at_;
    const bool anything_in_hand =
        !tail_.at_end() || !tail_.idle() || !writer_.idle() || !jobs_.all_done() || changes_.is_awaited();
    if (anything_in_hand) {
      wake_up_.wait(quiet < kBusyFor ? std::min(kBusyPollInterval, configured) : configured, stop);
    } else if (quiet < kBusyFor) {
      // No longer than until the next save is due.
      const auto unsaved = std::chrono::ceil<milliseconds>(checkpoint_.age(now));
      const milliseconds until_save = std::max(checkpoint_.pace().idle - unsaved, 1ms);
      const milliseconds at_most = writer_.has_news() ? std::min(until_save, kBusyWait) : kBusyWait;
      changes_.await_change(tail_.position(), std::min(kBusyCheckInterval, configured), at_most);
    } else {
      const LookPace pace = look_pace(std::chrono::duration_cast<milliseconds>(quiet), configured);
      changes_.await_change(tail_.position(), pace.check_every, pace.at_most);
    }
  }

  bool caught_up() {
    if (!tail_.at_end() || !tail_.idle() || !writer_.idle() || writer_.has_news()) return false;
    if (!jobs_.all_done()) return false;
    require_nothing_given_up();
    if (!set_aside_.empty()) {
      throw Error({"catching up", "not all indices could be followed: " + set_aside_.text(),
                   "do what they say; if a view is as you want it, run `lockstep apply`"});
    }
    if (!reindexing_.at_rest()) {
      if (reindexing_.stuck().empty()) return false;
      throw Error({"catching up", "a reindex waits: " + reindexing_.stuck(), "do what it says"});
    }
    return !source_.outbox().has_given_up();
  }

  // A new index of dead letters is no success, however few documents there were to judge by (RefusedShare).
  void require_filled() const {
    const ReplicationProgress progress = board_.read();
    for (const IndexId id : filled_) {
      const IndexProgress& index = progress.indices.at(id);
      if (index.dead_letters == 0 || index.refused <= index.documents) continue;
      throw Error(
          {"filling index " + index.alias,
           "Elasticsearch has refused " + std::to_string(index.refused) + " documents and taken " +
               std::to_string(index.documents),
           "see why with `lockstep dead-letters list`, mend the mapping, the view or the ingest pipeline, "
           "then run `lockstep dead-letters retry --all`"});
    }
  }

  /// Takes the outcomes of the bulks in flight that come in time. The next leader repeats the rest.
  void finish() {
    bulks_.stop(kStopGrace);
    writer_.take_outcomes(0ms);
    if (tail_.idle()) checkpoint_.save(tail_.position());
    note_paces();
    for (const std::string& line : refusals_.rest()) spdlog::warn("{}", line);
    note_if_quiet();
    if (leaves_mark()) targets_.note_now(source_mark(source_.lead().identity()), kNotePatience);
    report_.update();
  }

  // --- chores ---

  void take_jobs() {
    UnfinishedJobs jobs = changes_.jobs();
    // An `apply` changes the definitions and adds the jobs for them in one transaction.
    if (!jobs.readable.empty() || !jobs.unreadable.empty()) require_same_revision();
    report_.note_unreadable(jobs.unreadable);
    for (const UnreadableJob& job : jobs.unreadable) {
      if (pipeline_.find(job.index) != nullptr && !set_aside_.contains(job.index)) set_aside(job);
    }
    for (Job& job : jobs.readable) {
      if (job.kind == JobKind::kBackfill) filled_.insert(job.index);
      jobs_.add(std::move(job));
    }
  }

  void follow_parts() {
    const std::vector<std::string> lines = source_.outbox().follow_parts();
    for (const std::string& line : lines) spdlog::info("{}", line);
    if (!lines.empty()) take_jobs();
  }

  // Else the sweeps of the next leadership, this process's own perhaps, wait until no write can be on its
  // way.
  void note_quiet() {
    const auto end = std::chrono::steady_clock::now() + kQuietPatience;
    while (writer_.requests_in_flight() > 0 && std::chrono::steady_clock::now() < end)
      writer_.take_outcomes(10ms);
    note_if_quiet();
  }

  // Quiet is: no write is on its way, neither one of ours nor one of the leaders before us.
  void note_if_quiet() {
    if (writer_.requests_in_flight() == 0 && std::chrono::steady_clock::now() >= write_lifetime_over_)
      source_.lead().note_quiet(versions_.epoch());
  }

  void require_same_revision() {
    if (source_.revision() == pipeline_.revision) return;
    note_quiet();
    throw PipelineChanged("`apply` has changed the pipeline");
  }

  void go_on_with_reindexes() {
    note_paces();
    const bool changed = reindexing_.turn();
    limit_rates();
    report_.note_troubles(reindexing_.misplaced_aliases());
    if (reindexing_.take_added_jobs()) take_jobs();
    if (!changed) return;
    note_quiet();
    throw PipelineChanged("a reindex has changed the pipeline's generations");
  }

  void limit_rates() { jobs_.limit_rates(reindexing_.max_rates(), std::chrono::steady_clock::now()); }

  // Not within a save: its transaction may still be open.
  void note_paces() {
    for (const JobRunner::Measured& each : std::exchange(measured_, {}))
      source_.reindexes().note_pace(each.index, each.kind, each.pace);
  }

  void require_same_tables() {
    if (source_.lead().identity().tables == source_tables_) return;
    throw Error({"following changes", "lockstep's tables in the source were made again",
                 "checking both sides again", Retry::kLater});
  }

  // What was written into the other index is missing in ours, which the next leader compares for that.
  void require_same_targets() {
    if (const std::set<IndexId> lost = targets_.lost(); !lost.empty()) {
      KnownPartners partners = source_.lead().known_partners();
      for (const IndexId index : lost) partners.targets[index] = kUnknownTarget;
      source_.lead().raise_epoch(versions_.epoch(), partners);
    }
    if (const auto place = targets_.place_of_later_leader()) require_one_source(*place);
    targets_.require_same_targets();
  }

  // The later leader may follow a copy of the source, elsewhere: neither sees the other's lock.
  void require_one_source(const std::string& later_place) {
    const std::string place = source_.lead().identity().place;
    if (later_place.empty() || later_place == place) return;
    throw UsageError(
        "another lockstep follows a copy of the source under the same pipeline, and has taken over its "
        "indices: " +
        later_place + ", not " + place +
        "; stop it, or give the copy's configuration a pipeline and aliases of its own, then start this one "
        "again: every index is compared with its view");
  }

  // A later leader marks the indices before it writes, and takes the lead away before that. So a version of a
  // later epoch than ours, in an index without such a mark, was
  // written by no leader that we know of.
  void rise_above_foreign_versions() {
    const std::optional<ForeignVersion> found = foreign_.take_greatest();
    if (!found || found->version.epoch() < versions_.epoch() || versions_.rise_above(found->version)) return;
    for (const AppliedIndex& index : pipeline_.indices) {
      const std::optional<IndexMark> mark = mark_of(index);
      if (!mark || mark->epoch <= versions_.epoch()) continue;
      require_one_source(mark->source.place);
      throw Deposed("a later leader writes into " + index.alias);
    }
    foreign_.report(found->index, 1);
    source_.lead().raise_epoch(found->version.epoch(), source_.lead().known_partners());
    throw Error({"following changes",
                 "something else has written a document of index " + pipeline_.find(found->index)->alias +
                     " under the version " + std::to_string(found->version.value()) +
                     ", above all that this leader can give",
                 "it takes the lead again, with greater ones; find out who writes there", Retry::kLater});
  }

  // None: the index is not this pipeline's any more, which the target watch notices.
  std::optional<IndexMark> mark_of(const AppliedIndex& index) {
    try {
      return marked_index(elasticsearch_, index.target()).mark;
    } catch (const Error& error) {
      if (error.parts().server != Server::kNone) throw;
      return std::nullopt;
    }
  }

  // The triggers dropped changes when the outbox was full. Every index is compared once they write again.
  void require_nothing_given_up() {
    if (!source_.outbox().has_given_up() || !source_.outbox().resume()) return;
    note_quiet();
    throw Error({"following changes",
                 "the outbox had reached replication.max_outbox_size, and changes were dropped",
                 "every index is compared with its view", Retry::kLater});
  }

  void take_back_readable() {
    for (const auto& [index, why] : targets_.unfit()) set_aside_.keep(index, why);
    for (Job& job : set_aside_.take_back_readable(std::chrono::steady_clock::now(), held_))
      jobs_.add(std::move(job));
  }

  // Those that somebody has to mend first are retried by people.
  void retry_dead_letters() {
    std::vector<IndexId> ids;
    for (const AppliedIndex& index : pipeline_.indices) {
      if (!held_.contains(index.id) && !set_aside_.contains(index.id)) ids.push_back(index.id);
    }
    std::map<IndexId, std::vector<FoundDocument>> due;
    for (const DeadLetter& letter : source_.dead_letters().find_due(ids, kDeadLettersAtOnce))
      due[letter.index].push_back({letter.id, letter.routing});
    if (due.empty()) return;
    const std::unique_ptr<SourceTransaction> transaction = changes_.begin(versions_.epoch());
    for (const AppliedIndex& index : pipeline_.indices) {
      if (due.contains(index.id))
        transaction->add_repair(index, due.at(index.id), "dead letters are tried again");
    }
    for (Job& job : transaction->commit()) jobs_.add(std::move(job));
  }

  void note_progress() {
    if (leaves_mark()) targets_.note(source_mark(source_.lead().identity()));
  }

  // False: nothing has changed since the last one.
  bool leaves_mark() {
    const std::int64_t rows = writer_.acknowledgements().rows();
    if (std::exchange(noted_rows_, rows) == rows) return false;
    source_.lead().leave_mark(versions_.epoch());
    return true;
  }

  // --- events ---

  void after_save(const Acknowledged& saved) {
    std::ranges::move(jobs_.saved(saved), std::back_inserter(measured_));
    report_.note_saved(saved);
    refusals_.note(saved.refused);
    if (!saved.refused.empty()) tell_refusals();
  }

  void tell_refusals() {
    for (const std::string& line : refusals_.due(std::chrono::steady_clock::now())) spdlog::warn("{}", line);
  }

  const Config& config_;
  Source& source_;
  ChangeLog& changes_;
  const AppliedPipeline pipeline_;  // a copy: threads read it, and the source may reload its own
  ProgressBoard& board_;
  ElasticsearchClient elasticsearch_;
  const SteadyTime write_lifetime_over_;
  const TakenLead lead_;
  VersionCounter versions_;
  const std::string source_tables_;
  TargetWatch targets_;
  WakeUp wake_up_;  // outlives bulks_ and refresher_, whose threads call it
  BulkWriter bulks_;
  std::optional<Refresher> refresher_;
  DocumentWriter writer_;
  HeldIndices held_;
  ForeignWrites foreign_;
  Checkpoint checkpoint_;
  SetAside set_aside_;
  JobRunner jobs_;
  Tail tail_;
  RefusalLog refusals_;
  Reindexing reindexing_;
  ProgressReport report_;
  Housekeeping housekeeping_;
  SteadyTime followed_at_{};                   // when the tail last found work
  std::vector<JobRunner::Measured> measured_;  // not noted yet
  std::set<IndexId> filled_;                   // by backfills that this process has seen
  std::int64_t noted_rows_ = 0;                // of the outbox, when the indices were last told
};

}  // namespace

void replicate(const Config& config, Source& source, const BulkWriter::TransportFactory& make_transport,
               ProgressBoard& board, RunUntil until, const std::stop_token& stop) {
  Replication(config, source, make_transport, board).run(until, stop);
}

}  // namespace lockstep
