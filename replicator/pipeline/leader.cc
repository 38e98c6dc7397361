#include "replicator/pipeline/leader.h"

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

#include "replicator/clock.h"
#include "replicator/error.h"
#include "replicator/log/log.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/pipeline/look_pace.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kBusyFor = 1s;                       // after a change the next one is likely to come soon
constexpr milliseconds kBusyPollInterval = 2ms;     // then this process checks so often, at most
constexpr milliseconds kBusyCheckInterval = 1ms;    // likewise, if the source itself checks
constexpr milliseconds kBusyWait = 100ms;           // for a change, while the next one is likely to come soon
constexpr auto kSaveQuietAfter = 5s;                // saves a position that passed no change of ours,
constexpr auto kSaveEmptyAfter = 30s;               // or if it lets next to nothing be pruned
constexpr std::int64_t kNextToNothing = 1'000'000;  // bytes of the outbox
constexpr std::int64_t kDeadLettersAtOnce = 1'000;
constexpr auto kStopGrace = 3s;     // for bulks in flight at the end of a leadership
constexpr auto kNotePatience = 1s;  // with Elasticsearch, at a stop

}  // namespace

Leader::Leader(const LeaderWorld& of, const LeaderPatience& patience)
    : LeaderParts(of, patience),
      source_tables_(world.source.lead().identity().tables),
      refusals_(pipeline),
      housekeeping_(chores(), steady_now()) {
  checkpoint.on_saved([this](const Acknowledged& saved) { after_save(saved); });
  targets.note(source_mark(world.source.lead().identity()));  // if a block kept the mark out until now
  require_nothing_given_up();
  follow_parts();
  limit_rates();
  take_jobs();
  for (const AppliedIndex& index : pipeline.indices)
    checkpoint.begin_trial(index.id, report.count_dead_letters(index.id));
  set_log_field("epoch", std::to_string(versions.epoch().value));
  spdlog::info("leading pipeline {} under epoch {}: {}, {}", pipeline.name, versions.epoch().value,
               counted(std::ssize(pipeline.indices), "index", "indices"),
               counted(std::ssize(jobs.progress()), "job"));
  world.board.update([&](ReplicationProgress& progress) {
    progress.outbox_max_bytes = world.config.replication.max_outbox_size;
  });
  report.update();
}

void Leader::run(RunUntil until, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const bool worked = turn();
    if (until == RunUntil::kCaughtUp && caught_up()) break;
    if (!worked) wait_for_work(stop);
  }
  finish();
  if (until == RunUntil::kCaughtUp) require_filled();
}

bool Leader::turn() {
  writer.take_outcomes(0ms);
  const bool worked = take_turns();
  if (!worked && writer.idle() && !jobs.has_page_in_hand()) checkpoint.end_trials();
  save_when_due();
  rise_above_foreign_versions();
  require_same_targets();
  housekeeping_.run(steady_now(),
                    nothing_behind_ == tail.position() ? SourceSince::kStoodStill : SourceSince::kUnknown);
  return worked;
}

std::vector<Chore> Leader::chores() {
  using enum Chore::First;
  using enum Chore::Cause;
  return {
      {30s, kAfterInterval, [this] { world.source.outbox().prune(); }, "the outbox only grows otherwise"},
      {200ms, kAfterInterval, [this] { world.source.outbox().keep_small(); },
       "consumed rows must not use up the outbox's limit"},
      {1s, kAfterInterval, [this] { take_jobs(); }, "`apply` and others add jobs", kCommit},
      {2s, kAtOnce, [this] { require_same_revision(); }, "an `apply` changes the pipeline", kCommit},
      {2s, kAtOnce, [this] { require_nothing_given_up(); }, "a full outbox drops changes"},
      {1s, kAfterInterval, [this] { go_on_with_reindexes(); }, "people start reindexes", kCommit},
      {200ms, kAfterInterval,
       [this] {
         if (!reindexing.at_rest() || reindexing.awaits_answer()) go_on_with_reindexes();
       },
       "their steps end"},
      {10s, kAfterInterval, [this] { take_back_readable(); }, "a view or a job may have been fixed"},
      {2s, kAfterInterval, [this] { follow_parts(); }, "no trigger fires for a partition that comes or goes",
       kCommit},
      {10s, kAfterInterval, [this] { require_same_tables(); }, "a dump may be restored"},
      {5s, kAtOnce, [this] { report.find_differences(); },
       "a missing trigger loses changes silently, and it is promised within 15 s"},
      {5s, kAfterInterval, [this] { retry_dead_letters(); }, "an overload may be over"},
      {60s, kAfterInterval, [this] { note_progress(); }, "the next leader must see if the source went back"},
      {10s, kAtOnce, [this] { report.recount_dead_letters(); }, "others discard dead letters"},
      {10s, kAtOnce, [this] { report.measure_outbox(); }, "its size is for operators", kCommit},
      {10s, kAfterInterval, [this] { tell_refusals(); }, "lines about refusals are summed"},
      {100ms, kAtOnce, [this] { report.update(); }, "`status`, metrics and health read the board"},
  };
}

// A view that fails stops its own index only: the tail reads its chunk again without it.
bool Leader::take_turns() {
  bool followed = false;
  try {
    followed = tail.turn();
  } catch (const ViewError& error) {
    tail.rewind();
    stop_following(error);
    return true;
  }
  if (followed) followed_at_ = steady_now();
  try {
    return jobs.turn() || followed;
  } catch (const ViewError& error) {
    stop_following(error);
    return true;
  }
}

void Leader::stop_following(const ViewError& error) {
  standing.pause(error.index(), error.what());
  jobs.forget(error.index());
}

void Leader::stop_following(const UnreadableJob& job) {
  standing.pause(job.index, job.why);
  jobs.forget(job.index);
}

void Leader::save_when_due() {
  const auto unsaved = checkpoint.age(steady_now());
  const bool is_due = (writer.has_news() && unsaved >= checkpoint.save_within()) ||
                      (unsaved >= kSaveQuietAfter && (unsaved >= kSaveEmptyAfter || !has_small_outbox()));
  if (is_due && tail.idle()) checkpoint.save(tail.position());
}

// Other pipelines' rows among them, which wait for this one's checkpoint.
bool Leader::has_small_outbox() const {
  return world.board.read().outbox_bytes < kNextToNothing;
}

void Leader::wait_for_work(const std::stop_token& stop) {
  const SteadyTime now = steady_now();
  const milliseconds configured = world.config.replication.poll_interval;
  const auto quiet = now - followed_at_;
  const milliseconds save_within = checkpoint.save_within();
  const bool anything_in_hand =
      !tail.at_end() || !tail.idle() || !writer.idle() || !jobs.all_done() || save_within == 0ms;
  if (anything_in_hand) {
    wake_up.wait(quiet < kBusyFor ? std::min(kBusyPollInterval, configured) : configured, stop);
  } else if (quiet < kBusyFor) {
    // No longer than until the next save is due.
    const auto unsaved = std::chrono::ceil<milliseconds>(checkpoint.age(now));
    const milliseconds until_save = std::max(save_within - unsaved, 1ms);
    const milliseconds at_most = writer.has_news() ? std::min(until_save, kBusyWait) : kBusyWait;
    await_change(std::min(kBusyCheckInterval, configured), at_most);
  } else {
    const LookPace pace = look_pace(std::chrono::duration_cast<milliseconds>(quiet), configured);
    await_change(pace.check_every, pace.at_most);
  }
}

void Leader::await_change(milliseconds check_every, milliseconds at_most) {
  nothing_behind_.reset();
  if (!changes.await_change(tail.position(), check_every, at_most)) nothing_behind_ = tail.position();
}

bool Leader::at_rest() const {
  return tail.at_end() && tail.idle() && writer.idle() && !writer.has_news() && jobs.all_done();
}

// At rest it may never be, while others write.
bool Leader::has_passed_the_end() {
  if (!tail.idle()) return false;
  if (!rows_to_the_end_) {
    if (!tail.at_end()) return false;
    rows_to_the_end_ = writer.acknowledgements().rows_added();
  }
  if (writer.acknowledgements().rows() < *rows_to_the_end_) return false;
  if (!passed_end_at_) {
    checkpoint.save(tail.position());  // with the part of it that is due again
    passed_end_at_ = steady_now();
  }
  return jobs.all_done_since(*passed_end_at_);
}

// Throws Error if that will not be until a person has acted.
bool Leader::caught_up() {
  if (!has_passed_the_end()) return false;
  require_nothing_given_up();
  if (const std::string paused = standing.paused_text(); !paused.empty()) {
    throw Error({"catching up", "not all indices could be followed: " + paused,
                 "do what they ask for; if a view is as you want it, run `lockstep apply`"});
  }
  if (!reindexing.at_rest()) {
    if (reindexing.stuck().empty()) return false;
    throw Error({"catching up", "a reindex waits: " + reindexing.stuck(), "do what it asks for"});
  }
  return !world.source.outbox().has_given_up();
}

// A new index of dead letters is no success, however few documents there were to judge by (RefusedShare).
void Leader::require_filled() const {
  const ReplicationProgress progress = world.board.read();
  for (const IndexId id : filled_) {
    const IndexProgress& index = progress.indices.at(id);
    if (index.dead_letters == 0 || index.refused <= index.documents) continue;
    throw Error(
        {"filling index " + index.alias,
         "Elasticsearch has refused " + counted(index.refused, "document") + " and taken " +
             std::to_string(index.documents),
         "see why with `lockstep dead-letters list`, fix the mapping, the view or the ingest pipeline, "
         "then run `lockstep dead-letters retry --all`"});
  }
}

// Takes the outcomes of the bulks in flight that come in time. The next leader repeats the rest.
void Leader::finish() {
  bulks.stop(kStopGrace);
  writer.take_outcomes(0ms);
  if (tail.idle()) checkpoint.save(tail.position());
  note_paces();
  for (const std::string& line : refusals_.rest()) spdlog::warn("{}", line);
  note_if_quiet();
  if (leaves_mark()) targets.note_now(source_mark(world.source.lead().identity()), kNotePatience);
  report.update();
}

// --- chores ---

void Leader::take_jobs() {
  UnfinishedJobs unfinished = changes.jobs();
  // An `apply` changes the definitions and adds the jobs for them in one transaction.
  if (!unfinished.readable.empty() || !unfinished.unreadable.empty()) require_same_revision();
  report.note_unreadable(unfinished.unreadable);
  for (const UnreadableJob& job : unfinished.unreadable) {
    if (pipeline.find(job.index) != nullptr && !standing.is_paused(job.index)) stop_following(job);
  }
  for (Job& job : unfinished.readable) {
    if (job.kind == JobKind::kBackfill) filled_.insert(job.index);
    jobs.add(std::move(job));
  }
  jobs.note_due(changes.due());
}

void Leader::follow_parts() {
  const std::vector<std::string> lines = world.source.outbox().follow_parts();
  for (const std::string& line : lines) spdlog::info("{}", line);
  if (!lines.empty()) take_jobs();
}

// Else the sweeps of the next leadership, this process's own perhaps, wait until no write can be on its
// way.
void Leader::note_quiet() {
  const auto end = steady_now() + kStopGrace;
  while (writer.requests_in_flight() > 0 && steady_now() < end) writer.take_outcomes(10ms);
  note_if_quiet();
}

// Quiet is: no write is on its way, neither one of ours nor one of the leaders before us. How long an
// unanswered one may still be on its way, the next leadership of this process knows.
void Leader::note_if_quiet() {
  if (writer.requests_in_flight() != 0) return;
  const SteadyTime land = writer.late_writes_land();
  if (world.last_end != nullptr) *world.last_end = QuietEnd{versions.epoch(), land};
  const SteadyTime now = steady_now();
  if (now >= land - kLandsWithin + likely_within(world.config))
    world.source.lead().note_quiet(versions.epoch(), now >= land);
}

void Leader::require_same_revision() {
  if (world.source.revision() == pipeline.revision) return;
  note_quiet();
  throw PipelineChanged("`apply` has changed the pipeline");
}

void Leader::go_on_with_reindexes() {
  note_paces();
  const bool changed = reindexing.turn();
  limit_rates();
  report.note_troubles(reindexing.misplaced_aliases());
  if (reindexing.take_added_jobs()) take_jobs();
  if (!changed) return;
  note_quiet();
  throw PipelineChanged("a reindex has changed the pipeline's generations");
}

void Leader::limit_rates() {
  jobs.limit_rates(reindexing.max_rates(), steady_now());
}

// Not within a save: its transaction may still be open.
void Leader::note_paces() {
  for (const JobRunner::Measured& each : std::exchange(measured_, {}))
    world.source.reindexes().note_pace(each.index, each.kind, each.pace);
}

void Leader::require_same_tables() {
  if (world.source.lead().identity().tables == source_tables_) return;
  throw Error({"following changes", "lockstep's tables in the source were made again",
               "checking both sides again", Retry::kLater});
}

// Writes into the other index are missing in ours, so the next leader compares it.
void Leader::require_same_targets() {
  if (const std::set<IndexId> lost = targets.lost(); !lost.empty()) {
    KnownPartners partners = world.source.lead().known_partners();
    for (const IndexId index : lost) partners.targets[index] = kUnknownTarget;
    world.source.lead().raise_epoch(versions.epoch(), partners);
  }
  if (const auto place = targets.place_of_later_leader()) require_one_source(*place);
  targets.require_same_targets();
}

// The later leader may follow a copy of the source, elsewhere: neither sees the other's lock.
void Leader::require_one_source(const std::string& later_place) {
  const std::string place = world.source.lead().identity().place;
  if (later_place.empty() || later_place == place) return;
  throw UsageError(
      "another lockstep follows a copy of the source under the same pipeline, and has taken over its "
      "indices: " +
      later_place + ", not " + place +
      "; stop it, or give the copy's configuration a pipeline and aliases of its own, then start this one "
      "again: every index is compared with its view");
}

// A later leader marks the indices before it writes, and becomes leader before that. So a version of a later
// epoch than ours, in an index without such a mark, was written by another program.
void Leader::rise_above_foreign_versions() {
  const std::optional<ForeignVersion> found = foreign.take_greatest();
  if (!found || found->version.epoch() < versions.epoch() || versions.rise_above(found->version)) return;
  for (const AppliedIndex& index : pipeline.indices) {
    const std::optional<IndexMark> mark = mark_of(index);
    if (!mark || mark->epoch <= versions.epoch()) continue;
    require_one_source(mark->source.place);
    throw Deposed("a later leader writes into " + index.alias);
  }
  foreign.report(found->index, 1);
  world.source.lead().raise_epoch(found->version.epoch(), world.source.lead().known_partners());
  throw Error({"following changes",
               "something else has written a document of index " + pipeline.find(found->index)->alias +
                   " under the version " + std::to_string(found->version.value()) +
                   ", above all that this leader can give",
               "it becomes leader again, with greater ones; find out what writes there", Retry::kLater});
}

// None: the index is not this pipeline's any more, which the target watch notices.
std::optional<IndexMark> Leader::mark_of(const AppliedIndex& index) {
  try {
    return marked_index(elasticsearch, index.target()).mark;
  } catch (const Error& error) {
    if (error.parts().server != Server::kNone) throw;
    return std::nullopt;
  }
}

// The triggers dropped changes when the outbox was full. Every index is compared once they write again.
void Leader::require_nothing_given_up() {
  if (!world.source.outbox().has_given_up() || !world.source.outbox().resume()) return;
  note_quiet();
  throw Error({"following changes",
               "the outbox had reached replication.max_outbox_size, and changes were dropped",
               "every index is compared with its view", Retry::kLater});
}

void Leader::take_back_readable() {
  for (const auto& [index, why] : targets.unfit()) standing.keep_paused(index, why);
  jobs.add(standing.take_back_readable(steady_now()));
}

// Those that the operator has to fix first are retried by people.
void Leader::retry_dead_letters() {
  std::vector<IndexId> ids;
  for (const AppliedIndex& index : pipeline.indices) {
    if (standing.takes_writes(index.id) && !standing.is_paused(index.id)) ids.push_back(index.id);
  }
  std::map<IndexId, std::vector<FoundDocument>> due;
  for (const DeadLetter& letter : world.source.dead_letters().find_due(ids, kDeadLettersAtOnce))
    due[letter.index].push_back({letter.id, letter.routing});
  if (due.empty()) return;
  const std::unique_ptr<SourceTransaction> transaction = changes.begin(versions.epoch());
  for (const AppliedIndex& index : pipeline.indices) {
    if (due.contains(index.id))
      transaction->add_repair(index, due.at(index.id),
                              {versions.next(), std::nullopt, "dead letters are tried again"});
  }
  jobs.add(transaction->commit());
}

void Leader::note_progress() {
  if (leaves_mark()) targets.note(source_mark(world.source.lead().identity()));
}

// False: nothing has changed since the last one.
bool Leader::leaves_mark() {
  const std::int64_t rows = writer.acknowledgements().rows();
  if (std::exchange(noted_rows_, rows) == rows) return false;
  world.source.lead().leave_mark(versions.epoch());
  return true;
}

// --- events ---

void Leader::after_save(const Acknowledged& saved) {
  std::ranges::move(jobs.saved(saved), std::back_inserter(measured_));
  report.note_saved(saved);
  refusals_.note(saved.refused);
  if (!saved.refused.empty()) tell_refusals();
}

void Leader::tell_refusals() {
  for (const std::string& line : refusals_.due(steady_now())) spdlog::warn("{}", line);
}

}  // namespace lockstep
