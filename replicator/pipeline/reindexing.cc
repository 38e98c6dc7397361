#include "replicator/pipeline/reindexing.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "replicator/elasticsearch/admin/index_mapping.h"
#include "replicator/error.h"
#include "replicator/pipeline/own_refusals.h"
#include "replicator/pipeline/refused_share.h"
#include "replicator/quantity.h"
#include "replicator/source/index_definition.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr auto kAfterFailure = 2s;
constexpr const char* kUnreadable = "its view cannot be read: see `lockstep status`";
constexpr auto kLookInterval = 4s;  // between looks at where the alias points

bool is_at_rest(const Reindex& reindex) {
  if (reindex.state == ReindexState::kFailed) return reindex.wish == ReindexWish::kNone;
  return reindex.state == ReindexState::kKept && reindex.wish == ReindexWish::kNone && reindex.keep > 0s;
}

ReindexStep dropping(std::string failure = {}) {
  return {ReindexState::kDropping, {}, std::move(failure)};
}

DeadLetterFilter of_index(IndexId index, const char* error = "") {
  DeadLetterFilter its;
  its.indices = {index};
  its.error = error;
  return its;
}

bool is_kept(const Reindex& reindex) {
  return reindex.state == ReindexState::kKept;
}

AliasState state_of_alias(ElasticsearchClient& client, const Reindex& reindex) {
  return state_of_alias(client, reindex.alias, reindex.live_name, reindex.beside_name);
}

// The remedy while searches do not see the live generation.
std::string way_out(const AliasState& standing, const Reindex& reindex) {
  const auto command = [&](const std::string& options) {
    return "`lockstep reindex " + options + " " + reindex.alias + "`";
  };
  if (!standing.has_live && is_kept(reindex))
    return command("--back") + " points it to " + reindex.beside_name + ", which has every change";
  if (!standing.has_live) {
    const bool moves_now = reindex.state == ReindexState::kSwapping;
    return "it moves to " + reindex.beside_name + (moves_now ? " now" : " when that is full");
  }
  const std::string move_it = "find out why it was moved and move it back; or ";
  if (is_kept(reindex)) {
    return move_it + command("--finish --force") + " moves it to " + reindex.live_name + ", and " +
           command("--back --force") + " to " + reindex.beside_name;
  }
  return move_it + command("--abort --force") + " moves it back and ends the reindex, and " +
         command("--force") + " moves it to " + reindex.beside_name + " when that is full";
}

// Empty: searches see the live generation, or the one that takes its place.
std::string misplaced(const AliasState& standing, const Reindex& reindex) {
  const std::string why = why_unseen(standing, reindex.alias, reindex.live_name);
  const bool has_moved =
      reindex.state == ReindexState::kSwapping && standing.at == std::vector{reindex.beside_name};
  return why.empty() || has_moved ? "" : why + ": " + way_out(standing, reindex);
}

// Throws Error if the other generation is searched, or is the only one left. The force takes the alias away
// from it, if there is another one.
void require_needless(ElasticsearchClient& client, const Reindex& reindex) {
  const AliasState standing = state_of_alias(client, reindex);
  if (!standing.has_beside || standing.at == std::vector{reindex.live_name}) return;
  if (reindex.is_forced && standing.has_live) {
    return move_alias(client, reindex.alias, reindex.beside_name, reindex.live_name, TakeFrom::kAnybody);
  }
  const bool is_searched =
      std::find(standing.at.begin(), standing.at.end(), reindex.beside_name) != standing.at.end();
  const bool is_full = reindex.state != ReindexState::kFilling;
  if (!is_searched && !is_kept(reindex) && (standing.has_live || !is_full)) return;
  throw Error({"deleting index " + reindex.beside_name,
               why_unseen(standing, reindex.alias, reindex.live_name), way_out(standing, reindex)});
}

}  // namespace

Reindexing::Reindexing(const Parts& parts, Epoch epoch, std::unique_ptr<HttpTransport> transport,
                       std::function<void()> on_answer)
    : parts_(parts),
      epoch_(epoch),
      on_answer_(std::move(on_answer)),
      elasticsearch_(std::move(transport), parts.config.elasticsearch.request_timeout) {
  read();
}

Reindexing::~Reindexing() {
  elasticsearch_.cancel();
  if (asked_) asked_->answer.wait();
  all_.clear();
  tell();
}

bool Reindexing::turn() {
  const SteadyTime now = steady_now();
  const bool has_answer = take_answer();
  if (changed_pipeline_) return true;
  read();
  if (!has_answer) return false;
  const auto rests = [&](const Reindex& reindex) { return now < seen_[reindex.id].not_before; };
  if (std::none_of(all_.begin(), all_.end(), rests)) stuck_.clear();
  for (const Reindex& reindex : in_turn()) {
    if (!asked_ && !changed_pipeline_ && !rests(reindex)) act_or_wait(reindex);
  }
  return changed_pipeline_;
}

// Those behind the one that asked last come first: one that asks in vain again and again keeps none from
// asking.
std::vector<Reindex> Reindexing::in_turn() const {
  std::vector<Reindex> turn = all_;
  const auto next =
      std::find_if(turn.begin(), turn.end(), [this](const Reindex& each) { return each.id > last_asked_; });
  std::rotate(turn.begin(), next, turn.end());
  return turn;
}

void Reindexing::read() {
  all_ = parts_.source.reindexes().all();
  std::erase_if(seen_, [&](const auto& seen) {
    return std::none_of(all_.begin(), all_.end(), [&](const Reindex& each) { return each.id == seen.first; });
  });
  at_rest_ = std::all_of(all_.begin(), all_.end(), is_at_rest);
  tell();
}

void Reindexing::tell() {
  std::map<std::string, std::string> waiting;
  for (const Reindex& reindex : all_) waiting[reindex.alias] = reindex.reason;
  if (waiting == told_) return;
  told_ = waiting;
  parts_.board.update([&](ReplicationProgress& progress) { progress.reindexes = std::move(waiting); });
}

std::map<IndexId, std::int64_t> Reindexing::max_rates() const {
  std::map<IndexId, std::int64_t> rates;
  for (const Reindex& reindex : all_) {
    const bool is_new = reindex.state == ReindexState::kFilling || reindex.state == ReindexState::kComparing;
    if (is_new && reindex.beside && reindex.max_rate) rates[*reindex.beside] = *reindex.max_rate;
  }
  return rates;
}

std::vector<std::string> Reindexing::misplaced_aliases() const {
  std::vector<std::string> misplaced;
  for (const auto& [reindex, seen] : seen_) {
    if (!seen.misplaced.empty()) misplaced.push_back(seen.misplaced);
  }
  return misplaced;
}

// False: it has not come yet.
bool Reindexing::take_answer() {
  if (!asked_) return true;
  if (!asked_->answer.has_ended()) return false;
  Asked asked = *std::exchange(asked_, std::nullopt);
  const auto is_it = [&](const Reindex& each) { return each.id == asked.reindex; };
  const auto reindex = std::find_if(all_.begin(), all_.end(), is_it);
  Conclusion conclude;
  try {
    conclude = asked.answer.get();
  } catch (const Error& error) {
    if (reindex == all_.end()) return true;
    seen_[asked.reindex].not_before = steady_now() + kAfterFailure;
    if (error.retryable())
      note(*reindex, error.what());
    else
      wait_for_a_person(*reindex, error.what());
    return true;
  }
  conclude();
  return true;
}

// A fault of one reindex ends neither the others nor the service.
void Reindexing::act_or_wait(const Reindex& reindex) {
  try {
    act(reindex);
  } catch (const Error& error) {
    if (error.retryable() || error.parts().server != Server::kNone) throw;
    wait_for_a_person(reindex, error.what());
  }
}

void Reindexing::act(const Reindex& reindex) {
  const bool has_two = reindex.state != ReindexState::kCreating && reindex.state != ReindexState::kDropping &&
                       reindex.state != ReindexState::kFailed;
  if (has_two && (!reindex.live || !reindex.beside)) {
    throw Error({"continuing the reindex of " + reindex.alias,
                 "lockstep's table reindex names no index as one of its two generations",
                 "something else has deleted it; restore it, or delete the row of the reindex"});
  }
  switch (reindex.state) {
    case ReindexState::kCreating:
      return create(reindex);
    case ReindexState::kFilling:
    case ReindexState::kComparing:
      return fill(reindex);
    case ReindexState::kSwapping:
      return swap(reindex);
    case ReindexState::kKept:
      return keep(reindex);
    case ReindexState::kDropping:
      return drop(reindex);
    case ReindexState::kFailed:
      if (reindex.wish != ReindexWish::kNone) advance(reindex, {});
      return;
  }
  throw Error({"continuing a reindex", "its state is unknown"});
}

void Reindexing::create(const Reindex& reindex) {
  if (reindex.wish != ReindexWish::kNone) return advance(reindex, dropping());
  ask(reindex, [this, reindex, desired = desired(reindex)](ElasticsearchClient& client) -> Conclusion {
    const TwoGenerations made = create_beside(client, desired, epoch_, reindex.id.value);
    return [this, reindex, made] {
      advance(reindex,
              {ReindexState::kFilling,
               {{made.live, writing_alias(made.live)}, {made.beside, made.beside_alias}, made.documents}});
    };
  });
}

void Reindexing::fill(const Reindex& reindex) {
  if (look(reindex)) return;
  const bool is_filling = reindex.state == ReindexState::kFilling;
  const Seen& seen = seen_[reindex.id];
  const bool is_all_that_is_left = seen.live_is_gone && !is_filling;
  if (reindex.wish != ReindexWish::kNone && !is_all_that_is_left) return let_go(reindex);
  const UnfinishedJobs jobs = parts_.source.changes().jobs();
  if (std::string failure = too_many_refused_so_far(reindex, jobs); !failure.empty())
    return let_go(reindex, std::move(failure));
  if (has_work(reindex, jobs)) {
    if (!seen.misplaced.empty()) return note(reindex, seen.misplaced);
    return note_work(reindex);
  }
  if (is_filling) return judge_filled(reindex);
  if (const std::string reason = obstacle(reindex); !reason.empty())
    return wait_for_a_person(reindex, reason);
  prepare(reindex);
}

// The last look before the alias moves.
void Reindexing::prepare(const Reindex& reindex) {
  ask(reindex,
      [this, reindex, mapping = desired(reindex).mapping](ElasticsearchClient& client) -> Conclusion {
        const AliasState standing = state_of_alias(client, reindex);
        if (!reindex.is_forced)
          require_movable(standing, reindex.alias, reindex.live_name, reindex.beside_name);
        if (!reindex.was_swapped) finish_filling(client, reindex.beside_name, mapping);
        if (standing.has_live) require_as_healthy(client, reindex.beside_name, reindex.live_name);
        return [this, reindex] { advance(reindex, {ReindexState::kSwapping}); };
      });
}

// Waits include the other generation in this state. The due lists of both are read again: a wait may have
// ended since the last look. A leader that has come since then may compare the generation again.
void Reindexing::swap(const Reindex& reindex) {
  if (look(reindex)) return;
  parts_.jobs.note_due(parts_.source.changes().due());
  const bool is_taken_back = reindex.wish == ReindexWish::kAbort && !reindex.was_swapped;
  if (!is_taken_back && !seen_[reindex.id].live_is_gone) {
    if (parts_.standing.is_paused(*reindex.beside)) return note(reindex, kUnreadable);
    if (has_work(reindex, parts_.source.changes().jobs())) return note_work(reindex);
  }
  ask(reindex, [this, reindex, is_taken_back](ElasticsearchClient& client) -> Conclusion {
    if (is_taken_back) {
      const AliasState standing = state_of_alias(client, reindex);
      const bool has_moved = standing.at == std::vector{reindex.beside_name};
      if (!has_moved && standing.has_live) return [this, reindex] { advance(reindex, dropping()); };
    }
    move_alias(client, reindex.alias, reindex.live_name, reindex.beside_name,
               reindex.is_forced ? TakeFrom::kAnybody : TakeFrom::kExpected);
    return [this, reindex] {
      spdlog::info("reindex of {}: the alias points to {} now", reindex.alias, reindex.beside_name);
      advance(reindex, {ReindexState::kKept});
    };
  });
}

void Reindexing::keep(const Reindex& reindex) {
  if (look(reindex)) return;
  if (reindex.wish == ReindexWish::kFinish || (reindex.wish == ReindexWish::kNone && reindex.keep == 0s))
    return let_go(reindex);
  if (reindex.wish == ReindexWish::kAbort) {
    return wait_for_a_person(reindex, "the alias has moved already: `lockstep reindex --back " +
                                          reindex.alias + "` moves it back, --finish ends the reindex");
  }
  if (reindex.wish == ReindexWish::kBack) {
    if (has_work(reindex, parts_.source.changes().jobs()))
      return note(reindex, "the other index is being written");
    if (const std::string reason = obstacle(reindex); !reason.empty())
      return wait_for_a_person(reindex, reason);
    prepare(reindex);
  }
}

// Now and then, in every state with two generations. True: it has asked.
bool Reindexing::look(const Reindex& reindex) {
  const SteadyTime now = steady_now();
  Seen& seen = seen_[reindex.id];
  if (seen.at && now - *seen.at < kLookInterval) return false;
  seen.at = now;
  ask(reindex, [this, reindex](ElasticsearchClient& client) -> Conclusion {
    return [this, reindex, standing = state_of_alias(client, reindex)] { judge(reindex, standing); };
  });
  return true;
}

// A deleted index cannot be followed on. That is a failure unless a person wants to do without it anyway.
void Reindexing::judge(const Reindex& reindex, const AliasState& standing) {
  if (!standing.has_beside) {
    const bool is_wanted = reindex.wish == ReindexWish::kFinish || reindex.wish == ReindexWish::kAbort;
    return advance(reindex, dropping(is_wanted ? "" : reindex.beside_name + " was deleted"));
  }
  Seen& seen = seen_[reindex.id];
  seen.live_is_gone = !standing.has_live;
  const std::string before = std::exchange(seen.misplaced, misplaced(standing, reindex));
  const bool says_another = !reindex.reason.empty() && reindex.reason != before;
  if (seen.misplaced.empty() ? is_kept(reindex) : !says_another) note(reindex, seen.misplaced);
}

// The other generation, once it is not needed.
void Reindexing::let_go(const Reindex& reindex, std::string failure) {
  ask(reindex,
      [this, reindex, failure = std::move(failure)](ElasticsearchClient& client) mutable -> Conclusion {
        require_needless(client, reindex);
        return [this, reindex, failure = std::move(failure)] { advance(reindex, dropping(failure)); };
      });
}

void Reindexing::drop(const Reindex& reindex) {
  DroppedGeneration dropped{reindex.alias, parts_.pipeline.identity, reindex.beside_name, reindex.id.value,
                            reindex.live_name};
  ask(reindex, [this, reindex, dropped = std::move(dropped)](ElasticsearchClient& client) -> Conclusion {
    drop_generation(client, dropped);
    return [this, reindex] {
      if (reindex.failure.empty()) return advance(reindex, {});
      advance(reindex, {ReindexState::kFailed});
    };
  });
}

bool is_behind(const std::optional<DueList>& beside, const std::optional<DueList>& live) {
  return beside && (!live || beside->oldest < live->oldest);
}

// Whether the other generation still lacks writes that the live one has. Due documents of both come again and
// again under load, and are no reason to wait.
bool Reindexing::has_work(const Reindex& reindex, const UnfinishedJobs& jobs) {
  const auto of_beside = [&](const auto& job) { return job.index == *reindex.beside; };
  return std::ranges::any_of(jobs.readable, of_beside) || std::ranges::any_of(jobs.unreadable, of_beside) ||
         lacks_due(reindex);
}

bool Reindexing::lacks_due(const Reindex& reindex) {
  return (parts_.jobs.is_due(*reindex.beside) && !parts_.jobs.is_due(*reindex.live)) ||
         is_behind(parts_.jobs.due(*reindex.beside).list(), parts_.jobs.due(*reindex.live).list());
}

std::int64_t Reindexing::refused_by(IndexId index) {
  return parts_.source.dead_letters().count(of_index(index));
}

// As RefusedShare does for a whole pipeline: a mapping that takes nothing is one mistake, not a million dead
// letters. Empty: of so many documents it does not refuse too many.
std::string Reindexing::too_many_refused(const DeadLetterFilter& its, std::int64_t documents) {
  if (documents < RefusedShare::kWindow) return "";
  const std::int64_t refused = parts_.source.dead_letters().count(its);
  if (static_cast<double>(refused) <=
      parts_.config.replication.max_refused_share * static_cast<double>(documents))
    return "";
  const std::vector<StoredDeadLetter> first = parts_.source.dead_letters().find(its, std::nullopt, 1);
  std::string failure = "of the first " + grouped(documents) + " documents the new index refuses " +
                        grouped(refused) + " or changes them, more than replication.max_refused_share";
  if (!first.empty())
    failure += "; one of them: " + first.front().letter.error_type + ": " + first.front().letter.reason;
  return failure;
}

std::string Reindexing::too_many_refused_so_far(const Reindex& reindex, const UnfinishedJobs& jobs) {
  for (const Job& job : jobs.readable) {
    if (job.index != *reindex.beside) continue;
    if (job.kind == JobKind::kBackfill) return too_many_refused(of_index(job.index), job.done);
    if (job.kind == JobKind::kComparison) return too_many_refused(of_index(job.index, kNotKept), job.done);
  }
  return "";
}

// A small index may be full before the first look.
void Reindexing::judge_filled(const Reindex& reindex) {
  const std::int64_t refused = refused_by(*reindex.beside);
  if (refused == 0) return advance(reindex, {ReindexState::kComparing});
  ask(reindex, [this, reindex, refused](ElasticsearchClient& client) -> Conclusion {
    client.refresh(reindex.beside_name);
    const std::int64_t documents = client.count(reindex.beside_name) + refused;
    return [this, reindex, documents] {
      std::string failure = too_many_refused(of_index(*reindex.beside), documents);
      if (failure.empty()) return advance(reindex, {ReindexState::kComparing});
      let_go(reindex, std::move(failure));
    };
  });
}

// Why the alias may not move to the other generation, apart from Elasticsearch's reasons; empty: it may.
std::string Reindexing::obstacle(const Reindex& reindex) {
  const IndexId beside = *reindex.beside;
  if (parts_.standing.is_paused(beside)) return kUnreadable;
  if (!parts_.standing.takes_writes(beside)) return parts_.standing.reason(beside);
  if (seen_[reindex.id].live_is_gone) return "";
  if (const std::string shape = reshaped(reindex); !shape.empty())
    return "the view has got another shape since " + reindex.beside_name + " was defined, " + shape +
           ": run `lockstep apply`, which writes its documents again";
  if (reindex.is_forced) return "";
  const std::int64_t refused = parts_.source.reindexes().refused_beside(reindex);
  if (refused == 0) return "";
  return counted(refused, "document") + " that " + reindex.live_name +
         (refused == 1 ? " has is" : " has are") + " refused by " + reindex.beside_name +
         " or changed there: see why with `lockstep dead-letters list --index " + reindex.beside_name +
         "`; take the reindex back with `lockstep reindex --abort " + reindex.alias +
         "`, or do without them with `lockstep reindex --force " + reindex.alias + "`";
}

// A kept generation continues without later columns of its view.
std::string Reindexing::reshaped(const Reindex& reindex) {
  const AppliedIndex* const beside = parts_.pipeline.find(*reindex.beside);
  if (reindex.was_swapped || beside == nullptr) return "";
  return shape_text(parts_.source.changes().read()->reshaped(*beside));
}

DesiredIndex Reindexing::desired(const Reindex& reindex) const {
  DesiredIndex desired;
  desired.alias = reindex.alias;
  for (const IndexConfig& index : parts_.config.indices) {
    if (index.alias == reindex.alias) desired.view = index.view;
  }
  if (!reindex.view.empty()) desired.view = reindex.view;
  desired.mapping = parse_mapping("the mapping of the reindex of " + reindex.alias, reindex.mapping);
  desired.pipeline = parts_.pipeline.name;
  desired.identity = parts_.pipeline.identity;
  return desired;
}

void Reindexing::ask(const Reindex& reindex, std::function<Conclusion(ElasticsearchClient&)> question) {
  last_asked_ = reindex.id;
  asked_.emplace(Asked{
      reindex.id, in_background([this, question = std::move(question)] { return question(elasticsearch_); },
                                on_answer_)});
}

void Reindexing::advance(const Reindex& reindex, const ReindexStep& step) {
  if (!parts_.source.reindexes().advance(reindex, epoch_, step)) return;
  at_rest_ = false;
  seen_.erase(reindex.id);
  added_jobs_ = added_jobs_ || step.to == ReindexState::kComparing;
  if (step.to)
    spdlog::info("the reindex of {} is {} now", reindex.alias, name_of(*step.to));
  else
    spdlog::info("the reindex of {} is over", reindex.alias);
  changed_pipeline_ = step.to == ReindexState::kFilling || step.to == ReindexState::kKept ||
                      (step.to == ReindexState::kDropping && reindex.beside);
}

void Reindexing::wait_for_a_person(const Reindex& reindex, const std::string& reason) {
  note(reindex, reason);
  stuck_ += (stuck_.empty() ? "" : "; ") + reindex.alias + ": " + reason;
}

// Why the other generation is still being written.
void Reindexing::note_work(const Reindex& reindex) {
  const bool is_held = !parts_.standing.takes_writes(*reindex.beside);
  note(reindex, is_held ? parts_.standing.reason(*reindex.beside) : parts_.jobs.trouble(*reindex.beside));
}

void Reindexing::note(const Reindex& reindex, const std::string& reason) {
  if (reason == reindex.reason) return;
  if (!reason.empty()) spdlog::warn("reindex of {}: {}", reindex.alias, reason);
  parts_.source.reindexes().note(reindex.id, reason);
}

}  // namespace lockstep
