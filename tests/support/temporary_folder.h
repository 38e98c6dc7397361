// A folder that lives as long as its object.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep::support {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes (or overwrites) a file in it; returns its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace lockstep::support
