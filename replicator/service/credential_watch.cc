#include "replicator/service/credential_watch.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <utility>

#include "replicator/config/credentials.h"
#include "replicator/pause.h"

namespace lockstep {

CredentialWatch::CredentialWatch(LiveConfig& live, std::chrono::milliseconds interval)
    : live_(live),
      interval_(interval),
      config_(live.values().config),
      seen_(stamps_of(*config_)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

CredentialWatch::Stamps CredentialWatch::stamps_of(const Config& config) {
  Stamps stamps;
  for (const std::filesystem::path& file : credential_files(config)) {
    struct stat facts {};
    if (::stat(file.c_str(), &facts) != 0) facts = {};
    stamps[file] = {facts.st_ino, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec};
  }
  return stamps;
}

void CredentialWatch::run(const std::stop_token& stop) {
  if (has_rotated(*config_)) take_over();  // between loading and the first look
  while (pause(interval_, stop)) {
    const std::shared_ptr<const Config> now = live_.values().config;
    Stamps stamps = stamps_of(*now);
    const bool reloaded = now != config_;  // by another process, which has read the files
    const bool changed = stamps != seen_;
    config_ = now;
    seen_ = std::move(stamps);
    if (changed && (!reloaded || has_rotated(*now))) take_over();
  }
}

void CredentialWatch::take_over() {
  spdlog::info("a file with credentials has changed");
  live_.reload([this] { return with_present_credentials(*live_.values().config); });
  config_ = live_.values().config;
}

}  // namespace lockstep
