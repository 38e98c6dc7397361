#include "replicator/process/inherited_descriptors.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

#include "replicator/error.h"

namespace lockstep {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::vector<int> open_descriptors() {
  constexpr const char* kFolder = "/proc/self/fd";
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(kFolder));
  if (!folder) throw Error({"listing the open files of lockstep", std::strerror(errno), "mount /proc"});
  std::vector<int> found;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    int descriptor = -1;
    const bool is_number =
        std::from_chars(name.data(), name.data() + name.size(), descriptor).ec == std::errc();
    if (is_number && descriptor != ::dirfd(folder.get())) found.push_back(descriptor);
  }
  return found;
}

bool contains(const std::vector<int>& descriptors, int one) {
  return std::find(descriptors.begin(), descriptors.end(), one) != descriptors.end();
}

}  // namespace

InheritedDescriptors::InheritedDescriptors() : descriptors_(open_descriptors()) {}

void InheritedDescriptors::close_others(const std::vector<int>& kept) const {
  for (const int descriptor : open_descriptors()) {
    if (!contains(descriptors_, descriptor) && !contains(kept, descriptor)) ::close(descriptor);
  }
}

}  // namespace lockstep
