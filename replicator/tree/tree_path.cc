#include "replicator/tree/tree_path.h"

#include "replicator/error.h"
#include "replicator/locks/lock_name.h"

namespace lockstep {
namespace {

UsageError too_long(const std::string& what, std::size_t most) {
  return UsageError(what + " is longer than " + std::to_string(most) + " bytes; choose a shorter one");
}

}  // namespace

TreePath::TreePath(std::string_view text) : text_(canonical_path(text)) {
  const LockName checked(text_);  // UTF-8, no control characters
  if (text_.size() > kMaxTreePathBytes)
    throw too_long("the path " + text_.substr(0, 60) + "…", kMaxTreePathBytes);
  for (std::size_t begin = 1; begin < text_.size();) {
    const std::size_t end = std::min(text_.find('/', begin), text_.size());
    if (end - begin > kMaxTreeNameBytes)
      throw too_long("a name in the path " + text_.substr(0, begin + 60) + "…", kMaxTreeNameBytes);
    begin = end + 1;
  }
}

std::string TreePath::directory() const {
  const std::size_t slash = text_.rfind('/');
  return slash == 0 ? "/" : text_.substr(0, slash);
}

std::string TreePath::name() const {
  return text_.substr(text_.rfind('/') + 1);
}

bool TreePath::contains(const TreePath& other) const {
  if (is_root()) return !other.is_root();
  return other.text_.size() > text_.size() && other.text_.starts_with(text_) &&
         other.text_[text_.size()] == '/';
}

std::vector<TreePath> TreePath::above() const {
  std::vector<TreePath> paths;
  for (std::string& path : ancestors(text_)) {
    if (path != "/") paths.push_back(TreePath(Checked{}, std::move(path)));
  }
  return paths;
}

TreePath TreePath::operator/(std::string_view name) const {
  return TreePath(joined_path(text_, name));
}

std::string joined_path(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

}  // namespace lockstep
