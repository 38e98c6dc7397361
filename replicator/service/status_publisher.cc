#include "replicator/service/status_publisher.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "replicator/error.h"
#include "replicator/log/log_repeats.h"
#include "replicator/pause.h"
#include "replicator/service/leader_report.h"

namespace lockstep {
namespace {

bool same(const PublishedStatus& left, const PublishedStatus& right) {
  return left.state == right.state && left.reason == right.reason && left.document == right.document;
}

}  // namespace

StatusPublisher::StatusPublisher(std::function<std::unique_ptr<StatusWriter>()> open_writer,
                                 ProgressBoard& board, const Clock& clock, Intervals intervals,
                                 Objective objective)
    : open_writer_(std::move(open_writer)),
      board_(board),
      clock_(clock),
      intervals_(intervals),
      objective_(std::move(objective)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

StatusPublisher::~StatusPublisher() {
  thread_.request_stop();
  thread_.join();
}

void StatusPublisher::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    slow_.look(board_, clock_.now(), [this] { return lock_waits(); });
    job_rates_.look(board_, clock_.now());
    const ReplicationProgress progress = board_.read();
    rate_.add(clock_.now(), documents_applied(progress));
    // Only the leader may publish: another process would overwrite the leader's report.
    if (replicates(progress.state)) {
      publish(progress);
    } else {
      has_read_notes_ = false;
      if (progress.state == PipelineState::kStandingBy) last_ = {};  // another process publishes now
    }
    pause(intervals_.busy, stop);
  }
  say_stopped();
}

std::vector<LockWait> StatusPublisher::lock_waits() {
  std::vector<LockWait> waits;
  with_writer([&](StatusWriter& writer) { waits = writer.lock_waits(); });
  return waits;
}

void StatusPublisher::publish(const ReplicationProgress& progress) {
  read_notes_of_last_leader();
  if (objective_.keeper != nullptr && !has_read_notes_) return;
  const double rate = rate_.per_second();
  const PublishedStatus status{std::string(to_string(progress.state)), why_it_waits(progress),
                               status_document(progress, rate)};
  if (same(status, last_) && clock_.now() - sent_at_ < intervals_.idle) return;
  send(status, progress, rate);
}

void StatusPublisher::read_notes_of_last_leader() {
  if (objective_.keeper == nullptr || has_read_notes_) return;
  attempt([&] {
    std::optional<PipelineStatus> status;
    try {
      status = objective_.open_reader()->read();
    } catch (const Error& error) {
      if (error.retryable()) throw;
      spdlog::warn("the record of how well slo.lag was met cannot be read, and begins again: {}",
                   error.what());
    }
    objective_.keeper->go_on_from(status ? status->leader : std::nullopt, std::chrono::system_clock::now());
    has_read_notes_ = true;
  });
}

std::optional<Freshness> StatusPublisher::notes() const {
  return objective_.keeper == nullptr ? std::nullopt : objective_.keeper->notes();
}

bool StatusPublisher::may_say_stopped(const ReplicationProgress& progress) {
  // A leader that stops before its first report publishes why, too.
  const bool led = progress.epoch.value > 0 && progress.state != PipelineState::kStandingBy;
  if (!last_.state.empty() || led) return true;
  if (progress.fatal.empty()) return false;
  bool others_lead = false;
  // Our own connection may not have given up the leader's lock yet.
  if (!progress.leads) with_writer([&](StatusWriter& writer) { others_lead = writer.is_led(); });
  return !others_lead;
}

void StatusPublisher::say_stopped() {
  const ReplicationProgress progress = board_.read();
  if (!progress.fatal.empty()) last_logged_ = progress.fatal;  // main logs it
  if (!may_say_stopped(progress)) return;
  read_notes_of_last_leader();
  send({kStoppedState, progress.reason, status_document(progress, 0)}, progress, 0);
}

void StatusPublisher::send(const PublishedStatus& status, const ReplicationProgress& progress,
                           double documents_per_second) {
  with_writer([&](StatusWriter& writer) {
    writer.publish({status.state, status.reason, status_document(progress, documents_per_second, notes())});
    last_ = status;
    sent_at_ = clock_.now();
  });
}

void StatusPublisher::with_writer(const std::function<void(StatusWriter&)>& step) {
  attempt([&] {
    if (!writer_) writer_ = open_writer_();
    step(*writer_);
  });
}

void StatusPublisher::attempt(const std::function<void()>& step) {
  try {
    step();
    last_logged_.clear();
    if (std::exchange(is_failing_, false)) spdlog::info("the status is published again");
  } catch (const std::exception& error) {
    // Replication continues, and reports it if the source is away.
    writer_.reset();
    const std::string reason = error.what();
    if (last_logged_ == reason) return;
    is_failing_ = true;
    if (warn_of_trouble("the status cannot be published, so `lockstep status` shows an old one: " + reason))
      last_logged_ = reason;
  }
}

}  // namespace lockstep
