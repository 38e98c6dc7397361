#include "replicator/service/certificate_watch.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "replicator/pause.h"

namespace lockstep {

CertificateWatch::CertificateWatch(std::function<std::vector<std::string>()> urls, Look look,
                                   Intervals intervals)
    : urls_(std::move(urls)),
      look_(std::move(look)),
      intervals_(intervals),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

CertificateExpiries CertificateWatch::expiries() const {
  const MutexLock lock(mutex_);
  return expiries_;
}

void CertificateWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) pause(look_at_all() ? intervals_.look : intervals_.again, stop);
}

bool CertificateWatch::look_at_all() {
  bool all = true;
  for (const std::string& url : urls_()) {
    try {
      const std::optional<ServerCertificate> certificate = look_(url);
      if (!certificate) continue;
      const MutexLock lock(mutex_);
      expiries_[certificate->server] = certificate->expires;
    } catch (const std::exception& error) {
      // The writer to the server reports that it is away.
      spdlog::debug("{}", error.what());
      all = false;
    }
  }
  return all;
}

}  // namespace lockstep
