#include "replicator/source/checksum.h"

#include <cstdint>

namespace lockstep {

std::string checksum(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4) *digit = kDigits[hash & 15];
  return digits;
}

}  // namespace lockstep
