#include "replicator/pipeline/chunk_size.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

// Of a full request. Documents differ in size, and the excess over one is sent by itself.
constexpr double kAimedAt = 0.95;

// Fewer are no measure for the next ones.
constexpr std::size_t kTellingValues = 100;

}  // namespace

ChunkSize::ChunkSize(std::int64_t most_values, std::size_t bulk_bytes)
    : most_values_(most_values), bulk_bytes_(bulk_bytes) {}

std::int64_t ChunkSize::values() const {
  const double request = kAimedAt * static_cast<double>(bulk_bytes_);
  const double requests = std::floor(bytes_of_value_ * static_cast<double>(most_values_) / request);
  if (requests < 1) return most_values_;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(requests * request / bytes_of_value_), 1,
                                  most_values_);
}

void ChunkSize::begins(std::size_t values) {
  if (values_ >= kTellingValues) bytes_of_value_ = static_cast<double>(bytes_) / static_cast<double>(values_);
  values_ = values;
  bytes_ = 0;
}

}  // namespace lockstep
