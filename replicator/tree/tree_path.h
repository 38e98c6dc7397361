// Paths of a directory tree whose documents say where they are by two fields: `path`, the directory, and
// `name`, the name in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// Bytes of UTF-8, as in most file systems.
inline constexpr std::size_t kMaxTreePathBytes = 4'096;
inline constexpr std::size_t kMaxTreeNameBytes = 255;

/// "/clinton/projects": absolute, without a "/" at its end. The root is "/".
class TreePath {
 public:
  /// Takes a "/" at the end off. Throws UsageError for a relative path, an empty, "." or ".." segment, what
  /// is too long, not UTF-8, or has control characters.
  explicit TreePath(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_root() const { return text_ == "/"; }
  auto operator<=>(const TreePath&) const = default;

  /// "/clinton/projects" is in the directory "/clinton" under the name "projects". REQUIRES: not the root.
  std::string directory() const;
  std::string name() const;

  /// Whether `other` lies below this, at any depth. Not so for itself.
  bool contains(const TreePath& other) const;

  /// What lies above it, without the root: "/a/b/c" → "/a", "/a/b".
  std::vector<TreePath> above() const;

  /// What is called `name` in this directory. Throws UsageError as the constructor does.
  TreePath operator/(std::string_view name) const;

 private:
  std::string text_;
};

/// Where a document is, from its two fields: ("/", "etc") → "/etc", ("/etc", "passwd") → "/etc/passwd".
std::string joined_path(std::string_view directory, std::string_view name);

}  // namespace lockstep
