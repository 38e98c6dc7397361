// Sends bulk requests, several in flight, and gives every item an outcome: applied, superseded or refused.
// What can be tried again (429, 5xx, a lost connection, a missing alias) is tried again inside, only the
// items concerned, with back-off, until it has an outcome or the writer is stopped. Promise 1 rests on this:
// nothing leaves the writer without an outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replicator/backoff.h"
#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/elasticsearch/transport/http_transport.h"

namespace lockstep {

enum class Outcome : std::uint8_t {
  kApplied,     ///< 2xx, or a delete of what isn't there (404)
  kSuperseded,  ///< 409: a newer version is there already
  kRefused,     ///< refused for good: a dead letter
};

/// Why an item was refused, for the dead letter.
struct RefusedItem {
  std::size_t item = 0;  ///< position in the request
  int status = 0;        ///< HTTP status of the item
  std::string type;      ///< error.type, e.g. "mapper_parsing_exception"
  std::string reason;    ///< error.reason with its innermost cause, shortened to 2,000 bytes
};

struct BulkResult {
  std::uint64_t ticket = 0;  ///< what submit() returned
  BulkRequest request;
  std::vector<Outcome> outcomes;      ///< one for each item of the request, in its order
  std::vector<RefusedItem> refusals;  ///< one for each kRefused
  std::chrono::microseconds took{};   ///< from submit() to the last outcome
};

/// What the writer sees of Elasticsearch, for `status`, logs and health.
struct BulkWriterState {
  bool waiting = false;       ///< the last try failed and is being repeated
  std::string reason;         ///< why: one line with server and cause; empty when not waiting
  std::uint64_t retries = 0;  ///< requests repeated since the start
  int in_flight = 0;
  int most_in_flight = 0;      ///< that Elasticsearch is thought to take now (congestion_window.h)
  std::size_t most_bytes = 0;  ///< of a request, likewise
};

/// Owns `bulks_in_flight` threads with a transport each. submit() and take() are for one owner thread.
class BulkWriter {
 public:
  struct Options {
    int bulks_in_flight = 3;
    std::size_t bulk_bytes = 2 * 1024 * 1024;  ///< of a request on the wire, at most
    std::chrono::milliseconds request_timeout{60'000};
    Backoff::Limits backoff;
    /// Asked before each request, from any thread. False: it is held back, and asked again after a pause.
    std::function<bool()> may_send = [] { return true; };
  };
  using TransportFactory = std::function<std::unique_ptr<HttpTransport>()>;

  BulkWriter(const Options& options, const TransportFactory& make_transport);
  /// Stops at once: requests in flight are finished or time out, what has no outcome yet is dropped (it is
  /// not acknowledged).
  ~BulkWriter();
  BulkWriter(const BulkWriter&) = delete;
  BulkWriter& operator=(const BulkWriter&) = delete;

  /// Whether a submit() now would find an idle thread.
  bool has_room() const;

  /// Hands a request over; returns its ticket. Blocks while !has_room(). The owner sees to it that no two
  /// requests in flight name the same document. After stop() the request is dropped.
  /// A background request may be held back while others of its kind are on the wire.
  enum class Priority : std::uint8_t { kNormal, kBackground };
  std::uint64_t submit(BulkRequest request, Priority priority = Priority::kNormal);

  /// So many background requests may be on the wire at once, at least 1; at first all. Fewer are while that
  /// is faster (throughput_search.h).
  void limit_background(std::size_t requests);

  /// How large a background request should be, at most, to be fast.
  std::size_t background_bytes() const;

  /// The finished requests, in the order in which they finished; waits up to `wait` for the first one. After
  /// stop() it waits only while there is one on the wire.
  std::vector<BulkResult> take(std::chrono::milliseconds wait);

  /// Called (from any thread, must be thread-safe) when a request finishes; wakes an owner that waits
  /// elsewhere.
  void on_finished(std::function<void()> wake);

  /// Requests submitted and not yet taken, without those that stop() has dropped.
  std::size_t outstanding() const;

  BulkWriterState state() const;

  /// No more retries: waiting ones end without outcome and are not returned by take(). Requests on the wire
  /// are finished, up to `grace`, and cut off then; returns when that is done or `grace` is over.
  void stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
