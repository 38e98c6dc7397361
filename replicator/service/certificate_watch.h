// Looks at the certificates of Elasticsearch's servers at the start and every hour, for the metrics.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "replicator/elasticsearch/transport/server_certificate.h"
#include "replicator/mutex.h"

namespace lockstep {

/// When the certificates of servers expire, by the server's name.
using CertificateExpiries = std::map<std::string, std::chrono::system_clock::time_point>;

class CertificateWatch {
 public:
  struct Intervals {
    std::chrono::milliseconds look = std::chrono::hours(1);
    std::chrono::milliseconds again =
        std::chrono::minutes(1);  ///< after a server that could not be looked at
  };
  using Look = std::function<std::optional<ServerCertificate>(const std::string& url)>;

  /// Calls `urls` and `look` in its own thread.
  CertificateWatch(std::function<std::vector<std::string>()> urls, Look look, Intervals intervals);
  ~CertificateWatch() = default;
  CertificateWatch(const CertificateWatch&) = delete;
  CertificateWatch& operator=(const CertificateWatch&) = delete;

  /// As they were when they were last looked at; a server that could not be looked at has its last one.
  CertificateExpiries expiries() const;

 private:
  void run(const std::stop_token& stop);
  bool look_at_all();

  const std::function<std::vector<std::string>()> urls_;
  const Look look_;
  const Intervals intervals_;
  mutable Mutex mutex_;
  CertificateExpiries expiries_ LOCKSTEP_GUARDED_BY(mutex_);
  std::jthread thread_;  // uses everything above
};

}  // namespace lockstep
