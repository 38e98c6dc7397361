#include "replicator/elasticsearch/read/reply_size.h"

#include <numeric>

namespace lockstep {
namespace {

// Of a document in a reply without its contents, in bytes: the names of the index and of its fields.
constexpr std::size_t kFrame = 200;

constexpr std::size_t kGrowth = 4;  // from a reply to the next

}  // namespace

std::size_t ReplySize::documents(std::span<const std::size_t> expected) const {
  const std::size_t most = std::min({expected.size(), allowed_, most_});
  double bytes = 0;
  std::size_t count = 0;
  while (count < most) {
    bytes += static_cast<double>(expected[count] + kFrame) * ratio_;
    if (bytes > static_cast<double>(kReplyBytes)) break;
    ++count;
  }
  return std::max<std::size_t>(1, count);
}

// One large document among small ones is no sign of the next: the ratio falls slowly.
void ReplySize::came(std::span<const std::size_t> expected, std::size_t bytes) {
  const std::size_t sum = std::accumulate(expected.begin(), expected.end(), expected.size() * kFrame);
  ratio_ = std::max({1.0, static_cast<double>(bytes) / static_cast<double>(sum), ratio_ / 2});
  const std::size_t fitting = expected.size() * kReplyBytes / std::max<std::size_t>(1, bytes);
  if (bytes <= kReplyBytes) {
    allowed_ = std::min(most_, std::max(allowed_, std::min(expected.size() * kGrowth, fitting)));
  } else if (expected.size() > 1) {
    allowed_ = std::max<std::size_t>(1, fitting);
  }
}

}  // namespace lockstep
