// Secrets and certificates are rotated by the program that writes their files: a configuration manager,
// Kubernetes, a timer. This looks every two seconds whether one has changed, so that no restart or reload is
// needed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <thread>
#include <tuple>

#include "replicator/service/live_config.h"

namespace lockstep {

class CredentialWatch {
 public:
  /// Reloads the secrets of `live`, and nothing else of its file, when one of the files has changed since the
  /// configuration was loaded. `live` must outlive this.
  CredentialWatch(LiveConfig& live, std::chrono::milliseconds interval);

 private:
  // A new file has another number, a changed one another time of change, even when `cp -p` keeps time of
  // modification and size. A file that is away has none of them.
  using Stamp = std::tuple<ino_t, time_t, long>;
  using Stamps = std::map<std::filesystem::path, Stamp>;

  static Stamps stamps_of(const Config& config);
  void run(const std::stop_token& stop);
  void take_over();

  LiveConfig& live_;
  const std::chrono::milliseconds interval_;
  // Of the thread, once it runs.
  std::shared_ptr<const Config> config_;
  Stamps seen_;
  std::jthread thread_;  // uses everything above
};

}  // namespace lockstep
