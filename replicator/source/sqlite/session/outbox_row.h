// The size of the outbox, without reading it.
#pragma once

#include <cstdint>

namespace lockstep {

/// The size of an outbox row on disk, about: 13 bytes with an integer, 47 with a uuid as text.
inline constexpr std::int64_t kOutboxRowBytes = 48;

}  // namespace lockstep
