#include "replicator/service/leadership_loop.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "replicator/error_class.h"
#include "replicator/log/log.h"
#include "replicator/log/log_repeats.h"
#include "replicator/pause.h"
#include "replicator/pipeline/leadership.h"
#include "replicator/scheduler.h"
#include "replicator/service/health.h"
#include "replicator/source/source_absent.h"

namespace lockstep {
namespace {

// A leadership that lasted so long counts as a success: the next trouble is a new one.
constexpr std::chrono::seconds kWellAfter{30};
// A file that has changed now may change again soon.
constexpr std::chrono::milliseconds kBeforeReloading{100};
// During a pause the loop reports so often that it turns: a loop that waits does not hang.
constexpr std::chrono::milliseconds kPauseStep{1'000};

PipelineState waiting_for(Server server) {
  switch (server) {
    case Server::kSource:
      return PipelineState::kWaitingForSource;
    case Server::kElasticsearch:
      return PipelineState::kWaitingForElasticsearch;
    case Server::kNone:
      break;
  }
  return PipelineState::kConnecting;
}

}  // namespace

LeadershipLoop::LeadershipLoop(Parts parts, ProgressBoard& board, const Clock& clock)
    : parts_(std::move(parts)),
      board_(board),
      clock_(clock),
      backoff_(parts_.reconnect, random_seed()),
      refused_backoff_(parts_.refused, random_seed()) {}

void LeadershipLoop::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    set_leading(false);
    try {
      lead_once(stop);
      if (!parts_.reloaded()) return;
      last_reason_.clear();
    } catch (const PipelineChanged& changed) {
      spdlog::info("{}: reloading", changed.what());
      last_reason_.clear();
      pause(kBeforeReloading, stop);
    } catch (const Deposed& deposed) {
      wait_after_deposition(deposed, stop);
    } catch (const Error& error) {
      if (!is_worth_waiting_for(error)) give_up(error);
      const LogField error_field("error", std::string(class_of(error)));
      // A process that does not lead yet waits for the source only.
      wait_after(error.what(),
                 leading_ ? waiting_for(error.parts().server) : PipelineState::kWaitingForSource,
                 error.retryable() ? backoff_ : refused_backoff_, stop);
    } catch (const OtherVersion& other) {
      if (parts_.on_refusal == Parts::OnRefusal::kEnd) {
        note_fatal(other.what());
        throw;
      }
      const LogField error_field("error", "other_version");
      wait_after(other.what(), PipelineState::kWaitingForSource, backoff_, stop);
    } catch (const SourceAbsent& absent) {
      if (!may_outwait_refusals()) {
        note_fatal(absent.what());
        throw;
      }
      const LogField error_field("error", "source_away");
      wait_after(absent.what(), PipelineState::kWaitingForSource, backoff_, stop);
    } catch (const OtherIndices& error) {
      note_fatal(error.what());
      if (!may_outwait_refusals()) throw;
      // No wrong usage: the file that belongs to the applied definition is read by the next process.
      throw Error({"continuing after `lockstep apply`", error.what(),
                   "this process has read its configuration before that: start it again"});
    } catch (const std::exception& error) {
      note_fatal(error.what());
      throw;
    }
  }
}

void LeadershipLoop::lead_once(const std::stop_token& stop) {
  // After trouble the board keeps showing the reason.
  if (last_reason_.empty()) enter(PipelineState::kConnecting, "");
  const std::unique_ptr<Source> source = parts_.open_source();
  if (!take_lead(*source, stop)) return;
  set_leading(true);
  led_at_ = clock_.now();
  parts_.replicate(*source, stop);
}

bool LeadershipLoop::take_lead(Source& source, const std::stop_token& stop) {
  bool logged = false;
  while (!stop.stop_requested()) {
    if (source.lead().try_lead()) return true;
    if (!std::exchange(logged, true)) spdlog::info("standing by: another process leads this pipeline");
    last_reason_.clear();
    enter(PipelineState::kStandingBy, "");
    has_been_up_ = true;
    pause(parts_.standby_poll, stop);
    if (parts_.reloaded()) return false;
  }
  return false;
}

bool LeadershipLoop::is_worth_waiting_for(const Error& error) const {
  return error.retryable() || (error.parts().server != Server::kNone && may_outwait_refusals());
}

bool LeadershipLoop::may_outwait_refusals() const {
  return parts_.on_refusal == Parts::OnRefusal::kKeepTrying && (has_been_up_ || is_up(board_.read()));
}

void LeadershipLoop::give_up(const Error& error) {
  note_fatal(error.what());
  if (parts_.on_refusal == Parts::OnRefusal::kKeepTrying) throw UsageError(error.what());
  throw;
}

void LeadershipLoop::wait_after(const std::string& reason, PipelineState state, Backoff& backoff,
                                const std::stop_token& stop) {
  if (leading_ && clock_.now() - led_at_ >= kWellAfter) {
    backoff_.reset();
    refused_backoff_.reset();
    last_reason_.clear();
  }
  const bool had_worked = applies_changes(board_.read().state);  // however short the time was
  set_leading(false);                                            // the leader's lock went with the connection
  enter(state, reason);
  if (std::exchange(last_reason_, reason) != reason || had_worked) is_told_ = false;
  if (!is_told_) is_told_ = warn_of_trouble(reason + "; trying again until it works");
  pause(backoff.next(), stop);
}

void LeadershipLoop::wait_after_deposition(const Deposed& deposed, const std::stop_token& stop) {
  const LogField error_field("error", "deposed");
  spdlog::warn("another process has become leader: {}", deposed.what());
  set_leading(false);
  enter(PipelineState::kStandingBy, deposed.what());
  pause(backoff_.next(), stop);
}

void LeadershipLoop::pause(std::chrono::milliseconds delay, const std::stop_token& stop) {
  while (delay.count() > 0 && !stop.stop_requested() && !parts_.reloaded()) {
    const std::chrono::milliseconds step = std::min(delay, kPauseStep);
    lockstep::pause(step, stop);
    delay -= step;
    board_.update([&](ReplicationProgress& progress) { progress.turned_at = clock_.now(); });
  }
}

void LeadershipLoop::enter(PipelineState state, const std::string& reason) {
  board_.update([&](ReplicationProgress& progress) {
    progress.state = state;
    progress.reason = reason;
    progress.turned_at = clock_.now();
    progress.bulks_in_flight = 0;
    progress.lag_known_at = {};  // it is not measured
    if (state == PipelineState::kStandingBy)
      progress.advanced_at = clock_.now();
    else
      progress.unled.clear();
  });
}

void LeadershipLoop::set_leading(bool leading) {
  leading_ = leading;
  board_.update([&](ReplicationProgress& progress) {
    progress.leads = leading;
    if (leading) progress.unled.clear();
  });
}

void LeadershipLoop::note_fatal(const std::string& error) {
  enter(PipelineState::kConnecting, error);
  board_.update([&](ReplicationProgress& progress) { progress.fatal = error; });
}

}  // namespace lockstep
