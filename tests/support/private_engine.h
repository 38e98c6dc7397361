// A search engine of a test's own, to be crashed and frozen.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::support {

class PrivateEngine {
 public:
  /// Starts the engine of this name (scripts/engine --help) in `folder`, or takes over the one that runs
  /// there. `options` are more of what `scripts/engine start` takes.
  PrivateEngine(std::string name, std::filesystem::path folder, std::vector<std::string> options = {});
  ~PrivateEngine();
  PrivateEngine(const PrivateEngine&) = delete;
  PrivateEngine& operator=(const PrivateEngine&) = delete;

  /// Stays the same over crashes.
  const std::string& url() const { return url_; }

  /// kill -9, and a start with the same data. Takes as long as an engine needs to start.
  void crash();

  /// SIGSTOP and SIGCONT.
  void freeze();
  void thaw();

 private:
  std::string start();
  std::string control(const std::string& verb, const std::vector<std::string>& arguments);

  const std::string name_;
  const std::filesystem::path folder_;
  const std::vector<std::string> options_;
  std::string url_;
};

}  // namespace lockstep::support
