#include "replicator/elasticsearch/bulk/congestion_window.h"

#include <algorithm>

namespace lockstep {
namespace {

// Smaller requests cost more than they save: below this only their number falls.
constexpr std::size_t kLeastBytes = 64 * 1024;
// So many requests must come through for the size to grow from nothing to the most.
constexpr std::size_t kBytesSteps = 16;

}  // namespace

CongestionWindow::CongestionWindow(int requests, std::size_t bytes)
    : most_requests_(std::max(1, requests)),
      usual_bytes_(bytes),
      most_bytes_(bytes),
      requests_(most_requests_),
      bytes_(most_bytes_) {}

void CongestionWindow::came_through() {
  // One more each time as many requests as may be on the wire have come through.
  requests_ = std::min(most_requests_, requests_ + 1 / requests_);
  bytes_ = std::min(most_bytes_, bytes_ + std::max<std::size_t>(1, most_bytes_ / kBytesSteps));
}

void CongestionWindow::overloaded(std::uint64_t generation) {
  if (generation != generation_) return;
  ++generation_;
  requests_ = std::max(1.0, requests_ / 2);
  bytes_ = std::max(std::min(kLeastBytes, most_bytes_), bytes_ / 2);
}

void CongestionWindow::too_large(std::size_t bytes) {
  most_bytes_ = std::clamp(bytes / 2, std::min(kLeastBytes, most_bytes_), most_bytes_);
  bytes_ = std::min(bytes_, most_bytes_);
}

}  // namespace lockstep
