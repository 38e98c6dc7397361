// The number and size of bulk requests on the wire that keep Elasticsearch busy without overloading it:
// additive increase, multiplicative decrease (Chiu and Jain, "Analysis of the Increase and Decrease
// Algorithms for Congestion Avoidance", 1989). No network, no clock, no threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

class CongestionWindow {
 public:
  /// Begins wide open: `requests` on the wire, of any size. `bytes` is the usual limit of their size.
  CongestionWindow(int requests, std::size_t bytes);

  /// That may be on the wire at once; at least 1.
  int requests() const { return static_cast<int>(requests_); }

  /// The limit for one request, unless a single document is larger; kNoLimit while it is wide open.
  std::size_t bytes() const { return bytes_ < usual_bytes_ ? bytes_ : kNoLimit; }
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

  /// Keep it with a request that is sent, for overloaded().
  std::uint64_t generation() const { return generation_; }

  /// Elasticsearch took a request: both limits grow by a step.
  void came_through();

  /// 429, 503, or no reply in time, for a request of this generation: halves both limits, once for all
  /// requests that were on the wire together.
  void overloaded(std::uint64_t generation);

  /// 413 for a request of so many bytes with several documents: no request is as large again. Never relaxed,
  /// since the server's limit does not depend on the load.
  void too_large(std::size_t bytes);

 private:
  const double most_requests_;
  const std::size_t usual_bytes_;
  std::size_t most_bytes_;
  double requests_;
  std::size_t bytes_;
  std::uint64_t generation_ = 0;
};

}  // namespace lockstep
