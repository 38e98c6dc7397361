// Whose turn it is to write a document when several requests name it (W1). A request claims its documents
// when it is sent or begins to wait, once for each of its items; the claims on a document are served in the
// order in which they were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace lockstep {

/// The number of a request's claims; a later request has a greater one.
using Claim = std::uint64_t;

/// Later than any claim.
inline constexpr Claim kNoClaim = static_cast<Claim>(-1);

/// Documents are known by a hash. Two that share one are taken for the same document, which only makes one of
/// them wait.
class DocumentClaims {
 public:
  /// For one item. A request may name a document several times.
  void add(std::size_t document, Claim claim);

  /// For one item: the claim lasts until its last one is removed. Has no effect without such a claim.
  void remove(std::size_t document, Claim claim);

  /// The number of claims on the document before this one.
  std::size_t count_before(std::size_t document, Claim claim = kNoClaim) const;

  bool has(std::size_t document, Claim claim) const;

 private:
  struct Claimed {
    Claim claim = 0;
    std::size_t items = 0;
  };
  using Claims = std::unordered_multimap<std::size_t, Claimed>;

  Claims::iterator find(std::size_t document, Claim claim);

  Claims claims_;  // by document
};

}  // namespace lockstep
