// Elasticsearch's external version of a document, which keeps it from going backwards (promise 2).
//
// V1. Of two writes to one document, the one rendered from the newer snapshot has the greater version.
//
// It holds because an epoch has one leader, whose counter only rises, and each new leader has a greater
// epoch.
#pragma once

#include <compare>
#include <cstdint>

namespace lockstep {

/// The number of a leadership. Each process that becomes leader raises it, durably.
struct Epoch {
  std::int64_t value = 0;
  auto operator<=>(const Epoch&) const = default;
};

/// 22 bits of epoch above 40 bits of counter: 4 million leaderships of 10^12 writes each, within the 63 bits
/// that Elasticsearch allows.
class DocumentVersion {
 public:
  static constexpr int kCounterBits = 40;
  static constexpr std::int64_t kMaxEpoch = (std::int64_t{1} << 22) - 1;

  constexpr DocumentVersion() = default;
  constexpr DocumentVersion(Epoch epoch, std::int64_t counter)
      : value_((epoch.value << kCounterBits) | counter) {}

  /// Sent to Elasticsearch as `version`.
  constexpr std::int64_t value() const { return value_; }
  constexpr Epoch epoch() const { return Epoch{value_ >> kCounterBits}; }

  static constexpr DocumentVersion from_value(std::int64_t value) {
    DocumentVersion version;
    version.value_ = value;
    return version;
  }

  constexpr auto operator<=>(const DocumentVersion&) const = default;

 private:
  std::int64_t value_ = 0;
};

}  // namespace lockstep
