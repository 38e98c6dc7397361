// Connects to the source, becomes leader or stands by until it can, and replicates. Begins again when a
// server was away or another process became leader. Ends on request, or with an error that no retry can fix.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "replicator/backoff.h"
#include "replicator/clock.h"
#include "replicator/error.h"
#include "replicator/pipeline/progress.h"
#include "replicator/source/source.h"

namespace lockstep {

class LeadershipLoop {
 public:
  /// The loop's calls; tests put fakes here.
  struct Parts {
    std::function<std::unique_ptr<Source>()> open_source;
    /// Returns when it is done or on a stop request.
    std::function<void(Source&, const std::stop_token&)> replicate;
    /// Whether another configuration is in force than the one that this round began with. Then the loop
    /// begins a new round, also when replicate() has returned.
    std::function<bool()> reloaded = [] { return false; };
    Backoff::Limits reconnect{std::chrono::milliseconds(100), std::chrono::milliseconds(5'000)};
    /// Between tries of a step that only the operator can fix.
    Backoff::Limits refused{std::chrono::milliseconds(1'000), std::chrono::milliseconds(60'000)};
    std::chrono::milliseconds standby_poll{500};
    /// The reaction if a server refuses a step for good (a password, a privilege), another version of
    /// Lockstep has made the schema, or the source is absent, as while it is restored. A service that has
    /// been up keeps trying, with growing pauses: if it ended, it would be started again at once, and ask as
    /// often as it can. One that has not been up ends with UsageError, so that its start fails.
    enum class OnRefusal { kEnd, kKeepTrying };
    OnRefusal on_refusal = OnRefusal::kEnd;
  };

  /// The references must outlive this.
  LeadershipLoop(Parts parts, ProgressBoard& board, const Clock& clock);

  /// Returns on a stop request, or when replicate() has returned. Throws UsageError, and Error that is not
  /// retryable, and notes on the board why it ends. With kKeepTrying such an Error becomes a UsageError:
  /// nothing but an operator helps, so the process must not be started again.
  void run(const std::stop_token& stop);

 private:
  void lead_once(const std::stop_token& stop);
  bool take_lead(Source& source, const std::stop_token& stop);
  bool is_worth_waiting_for(const Error& error) const;
  bool may_outwait_refusals() const;
  /// REQUIRES: it is being handled.
  [[noreturn]] void give_up(const Error& error);
  void wait_after(const std::string& reason, PipelineState state, Backoff& backoff,
                  const std::stop_token& stop);
  void wait_after_deposition(const Deposed& deposed, const std::stop_token& stop);
  void pause(std::chrono::milliseconds delay, const std::stop_token& stop);
  void enter(PipelineState state, const std::string& reason);
  void set_leading(bool leading);
  void note_fatal(const std::string& error);

  Parts parts_;
  ProgressBoard& board_;
  const Clock& clock_;
  Backoff backoff_;
  Backoff refused_backoff_;
  std::string last_reason_;  // of the trouble that is not over
  bool is_told_ = false;     // the log has it
  SteadyTime led_at_{};      // when replicate() was last called
  bool has_been_up_ = false;
  bool leading_ = false;  // replicate() has been reached in this round
};

}  // namespace lockstep
