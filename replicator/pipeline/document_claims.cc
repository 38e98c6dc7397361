#include "replicator/pipeline/document_claims.h"

#include <algorithm>

namespace lockstep {

void DocumentClaims::add(std::size_t document, Claim claim) {
  const auto found = find(document, claim);
  if (found == claims_.end()) {
    claims_.emplace(document, Claimed{claim, 1});
  } else {
    ++found->second.items;
  }
}

void DocumentClaims::remove(std::size_t document, Claim claim) {
  const auto found = find(document, claim);
  if (found != claims_.end() && --found->second.items == 0) claims_.erase(found);
}

DocumentClaims::Claims::iterator DocumentClaims::find(std::size_t document, Claim claim) {
  const auto [first, last] = claims_.equal_range(document);
  const auto found = std::find_if(first, last, [&](const auto& each) { return each.second.claim == claim; });
  return found == last ? claims_.end() : found;
}

std::size_t DocumentClaims::count_before(std::size_t document, Claim claim) const {
  const auto [first, last] = claims_.equal_range(document);
  return static_cast<std::size_t>(
      std::count_if(first, last, [&](const auto& each) { return each.second.claim < claim; }));
}

bool DocumentClaims::has(std::size_t document, Claim claim) const {
  const auto [first, last] = claims_.equal_range(document);
  return std::any_of(first, last, [&](const auto& each) { return each.second.claim == claim; });
}

}  // namespace lockstep
