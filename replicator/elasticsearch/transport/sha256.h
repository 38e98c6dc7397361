// SHA-256, for signatures and for comparing texts that are too long to keep.
#pragma once

#include <array>
#include <string_view>

namespace lockstep {

using Sha256 = std::array<unsigned char, 32>;

/// Throws std::bad_alloc.
Sha256 sha256(std::string_view text);

/// The digest's bytes; `digest` must outlive the view.
inline std::string_view bytes_of(const Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace lockstep
