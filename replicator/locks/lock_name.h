// What is locked, and how: the four schemes of "Elasticsearch: The Definitive Guide" (chapter "Solving
// Concurrency Issues") as sets of named locks. A lock is a name; schemes differ only in which names a change
// takes, so that one index of locks serves them all and the book's own documents are understood.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

enum class LockMode : std::uint8_t {
  kShared,     ///< any number of holders
  kExclusive,  ///< one holder, and nobody shares it
};

/// "shared", "exclusive"; as the documents and tables of locks have it.
std::string_view text_of(LockMode mode);

/// The name of a lock: a path, the id of a document, or any other word. Not empty, and valid UTF-8.
class LockName {
 public:
  /// Throws UsageError for an empty name and for one that is not UTF-8 or has control characters.
  explicit LockName(std::string text);

  const std::string& text() const { return text_; }
  auto operator<=>(const LockName&) const = default;

 private:
  std::string text_;
};

struct LockRequest {
  LockName name;
  LockMode mode = LockMode::kExclusive;
  bool operator==(const LockRequest&) const = default;
};

/// The locks of one change, each name once, in the order of the names' bytes: ancestors before what is below
/// them. They are taken in this order and released in the opposite one, from the longest path to the
/// shortest.
using LockSet = std::vector<LockRequest>;

/// Brings requests into that order; of several for one name the exclusive one stays.
LockSet lock_set(std::vector<LockRequest> requests);

/// The global lock: one name, "global", for everything.
LockSet global_lock();

/// Document locks: an exclusive one for each id. REQUIRES: at least one id.
LockSet document_locks(const std::vector<std::string>& ids);

/// Tree locks: an exclusive one on each path, which covers everything below it, and shared ones on all of
/// their ancestors up to "/". A rename names its source and its target. Paths are as canonical_path() takes
/// them. REQUIRES: at least one path.
LockSet tree_locks(const std::vector<std::string>& paths);

/// "/a/b/" → "/a/b". Throws UsageError for a path that does not begin with "/" or has an empty, "." or ".."
/// segment.
std::string canonical_path(std::string_view path);

/// "/a/b/c" → "/", "/a", "/a/b"; none for "/". REQUIRES: a canonical path.
std::vector<std::string> ancestors(std::string_view path);

}  // namespace lockstep
