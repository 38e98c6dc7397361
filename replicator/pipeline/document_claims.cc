#include "replicator/pipeline/document_claims.h"

#include <algorithm>

namespace lockstep {

void DocumentClaims::add(std::size_t document, Claim claim) {
  if (!has(document, claim)) claims_.emplace(document, claim);
}

void DocumentClaims::remove(std::size_t document, Claim claim) {
  const auto [first, last] = claims_.equal_range(document);
  const auto own = std::find_if(first, last, [&](const auto& each) { return each.second == claim; });
  if (own != last) claims_.erase(own);
}

std::size_t DocumentClaims::count_before(std::size_t document, Claim claim) const {
  const auto [first, last] = claims_.equal_range(document);
  return static_cast<std::size_t>(
      std::count_if(first, last, [&](const auto& each) { return each.second < claim; }));
}

bool DocumentClaims::has(std::size_t document, Claim claim) const {
  const auto [first, last] = claims_.equal_range(document);
  return std::any_of(first, last, [&](const auto& each) { return each.second == claim; });
}

}  // namespace lockstep
