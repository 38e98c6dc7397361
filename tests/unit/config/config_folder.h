// A folder of its own with configuration files, removed at the end of the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "replicator/config/config.h"
#include "replicator/error.h"

namespace lockstep {

class ConfigFolder : public testing::Test {
 protected:
  ConfigFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-config-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    write("blogposts.json", R"({"settings": {"number_of_shards": 1}, "mappings": {"properties": {}}})");
  }
  ~ConfigFolder() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::ofstream(folder_ / name) << content;
    return folder_ / name;
  }

  Config load(std::string_view content) const { return load_config(write("lockstep.toml", content)); }

  /// The faults of a configuration, with the folder's name taken out; "" when there are none.
  std::string faults(std::string_view content) const {
    try {
      load(content);
      return "";
    } catch (const UsageError& error) {
      std::string message = error.what();
      const std::string prefix = folder_.string() + "/";
      for (std::size_t at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
        message.erase(at, prefix.size());
      }
      return message;
    }
  }

  std::filesystem::path folder_;
};

/// The least that is a valid configuration; tests put their lines before or after it.
inline const std::string kIndex = R"(
[[index]]
alias = "blogposts"
mapping = "blogposts.json"
view = "search.blogposts"
[[index.track]]
table = "blog.blogposts"
)";
inline const std::string kSource = R"(
[source]
url = "postgresql://lockstep@/shop"
)";

}  // namespace lockstep
