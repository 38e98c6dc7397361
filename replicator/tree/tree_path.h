// Paths of a directory tree whose documents have two fields for them: `path`, the directory, and `name`, the
// name in it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

/// Bytes of UTF-8, as in most file systems.
inline constexpr std::size_t kMaxTreePathBytes = 4'096;
inline constexpr std::size_t kMaxTreeNameBytes = 255;

/// "/clinton/projects": absolute, without a "/" at its end. The root is "/".
class TreePath {
 public:
  /// Removes a "/" at the end. Throws UsageError for a relative path, for an empty, "." or ".." segment, and
  /// for a text that is too long, is not UTF-8 or has control characters.
  explicit TreePath(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_root() const { return text_ == "/"; }
  auto operator<=>(const TreePath&) const = default;

  /// "/clinton/projects" is in the directory "/clinton" under the name "projects". REQUIRES: not the root.
  std::string directory() const;
  std::string name() const;

  /// Whether `other` lies below this, at any depth. A path does not contain itself.
  bool contains(const TreePath& other) const;

  /// Its ancestors without the root: "/a/b/c" → "/a", "/a/b".
  std::vector<TreePath> above() const;

  /// The path of `name` in this directory. Throws UsageError as the constructor does.
  TreePath operator/(std::string_view name) const;

 private:
  struct Checked {};
  TreePath(Checked, std::string text) : text_(std::move(text)) {}

  std::string text_;
};

/// A document's path, from its two fields: ("/", "etc") → "/etc", ("/etc", "passwd") → "/etc/passwd".
std::string joined_path(std::string_view directory, std::string_view name);

}  // namespace lockstep
