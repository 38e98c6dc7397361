// The kinds of locks: the four schemes of "Elasticsearch: The Definitive Guide" (chapter "Solving Concurrency
// Issues") as sets of named locks. A lock is a name. Schemes differ only in the names that a change takes, so
// one index of locks serves them all, and Lockstep understands the book's own documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

enum class LockMode : std::uint8_t {
  kShared,     ///< any number of holders
  kExclusive,  ///< one holder, and it does not share
};

/// "shared", "exclusive": the text in documents and tables of locks.
std::string_view text_of(LockMode mode);
/// None for any other text.
std::optional<LockMode> lock_mode(std::string_view text);

/// The name of a lock: a path, the id of a document, or any other word. Not empty, and valid UTF-8.
class LockName {
 public:
  /// Throws UsageError for a text that is empty, is not UTF-8 or has control characters.
  explicit LockName(std::string text);

  /// A stored name, with any characters.
  static LockName as_stored(std::string text) { return LockName(Stored{}, std::move(text)); }

  const std::string& text() const { return text_; }
  auto operator<=>(const LockName&) const = default;

 private:
  struct Stored {};
  LockName(Stored, std::string text) : text_(std::move(text)) {}

  std::string text_;
};

/// The name, or for a longer one its beginning and a hash (FNV-1a of 64 bits), in at most `max_bytes`. (Two
/// names with one hash would keep each other out, nothing worse.)
std::string shortened_name(const LockName& name, std::size_t max_bytes);

struct LockRequest {
  LockName name;
  LockMode mode = LockMode::kExclusive;
  bool operator==(const LockRequest&) const = default;
};

/// The locks of one change, each name once, in the order of the names' bytes: ancestors before their
/// descendants. Backends take them in this order and release them in the opposite one.
using LockSet = std::vector<LockRequest>;

/// Sorts requests into that order. Of several requests for one name the exclusive one stays.
LockSet lock_set(std::vector<LockRequest> requests);

/// The global lock: one exclusive lock, "global", for everything.
LockSet global_lock();

/// Document locks: an exclusive lock for each id. REQUIRES: at least one id.
LockSet document_locks(const std::vector<std::string>& ids);

/// Tree locks: an exclusive lock on each path, which covers everything below it, and shared locks on all of
/// their ancestors up to "/". A rename names its source and its target. Throws UsageError as canonical_path()
/// does. REQUIRES: at least one path.
LockSet tree_locks(const std::vector<std::string>& paths);

/// "/a/b/" → "/a/b". Throws UsageError for a path that does not begin with "/" or has an empty, "." or ".."
/// segment.
std::string canonical_path(std::string_view path);

/// "/a/b/c" → "/", "/a", "/a/b"; none for "/". REQUIRES: a canonical path.
std::vector<std::string> ancestors(std::string_view path);

}  // namespace lockstep
