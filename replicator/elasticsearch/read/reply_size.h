// The number of documents to ask for at once. A document's size in the index is unknown: on disk it is
// compressed, by two or by two hundred. So a request goes by each one's size in the view, by the ratio of the
// last ones' sizes in the index and there, and by a cautious beginning. If a reply comes out larger all the
// same, fewer documents are asked for next.
//
// Elasticsearch keeps a reply in memory as a whole, several times over: one of a gigabyte ends a small node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace lockstep {

/// A reply is meant to stay below this, in bytes; one document may be larger.
inline constexpr std::size_t kReplyBytes = 2 * 1024 * 1024;

/// A reply of several documents is cut off if it becomes larger, and fewer are asked for.
inline constexpr std::size_t kMostReplyBytes = 4 * kReplyBytes;

/// Documents of a request when nothing is known.
inline constexpr std::size_t kCautiousRequest = 4;

class ReplySize {
 public:
  /// At most so many documents at once, and so many at first.
  explicit ReplySize(std::size_t most_documents, std::size_t at_first = kCautiousRequest)
      : most_(most_documents), allowed_(at_first) {}

  /// The number of first documents to ask for, given the expected bytes of each; 0: unknown. At least 1.
  /// REQUIRES: `expected` is not empty.
  std::size_t documents(std::span<const std::size_t> expected) const;

  /// The reply for these documents has come, with so many bytes; or it was cut off, with at least so many.
  void came(std::span<const std::size_t> expected, std::size_t bytes);

  /// The server does not give so many documents at once.
  void was_refused(std::size_t documents) { allowed_ = std::max<std::size_t>(1, documents / 2); }

 private:
  const std::size_t most_;
  std::size_t allowed_;  // documents at once, for now
  double ratio_ = 1;     // of the bytes that came to those that were expected; at least 1
};

}  // namespace lockstep
