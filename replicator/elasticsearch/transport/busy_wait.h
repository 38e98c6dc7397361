// A command's reaction to an overloaded Elasticsearch: it waits, and sends the request again. The service
// does without: there, Retry::kLater puts the job off, and other work continues (pipeline/jobs/job_runner.h).
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "replicator/backoff.h"
#include "replicator/clock.h"
#include "replicator/error.h"

namespace lockstep {

struct WhenBusy {
  /// How long a request is sent again, from the first answer that the server is busy. Zero: not at all.
  std::chrono::milliseconds limit{0};
  /// Called before each wait, with the server's error and how long it has been busy for this request.
  std::function<void(const Error& busy, std::chrono::milliseconds waited)> waiting = {};
};

/// The waits for one request.
class BusyWait {
 public:
  /// `when_busy` must outlive this.
  explicit BusyWait(const WhenBusy& when_busy);

  /// Waits until the request should be sent again. Throws `busy`, with the time waited, if the limit has
  /// passed, and `busy` as it is if requests are not to be sent again.
  void before_next_try(const Error& busy);

  /// The request was answered: the next wait is for another one.
  void over();

 private:
  const WhenBusy& when_busy_;
  Backoff backoff_;
  std::optional<SteadyTime> begin_;  // of the first wait
};

}  // namespace lockstep
