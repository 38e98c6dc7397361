// [http] listen: /metrics, /healthz, /readyz and the status page, which ask no server, and /wait. Only /wait
// asks the source and Elasticsearch; it leaves threads for the others.
#pragma once

#include <memory>
#include <string>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/waiter.h"
#include "replicator/service/certificate_watch.h"
#include "replicator/service/status_page.h"

namespace lockstep {

/// Serves in its own threads from construction to destruction.
class HttpEndpoint {
 public:
  /// Its parts besides metrics and health; all must outlive it.
  struct Parts {
    const StatusPage* page = nullptr;                ///< null: no status page
    const CertificateWatch* certificates = nullptr;  ///< null: they are not watched
    Waiter* waiter = nullptr;                        ///< null: no /wait
  };

  /// `listen` is "host:port"; port 0 takes a free one. The references must outlive this. Throws UsageError if
  /// another process listens there, Error if the address is not ours.
  HttpEndpoint(const std::string& listen, std::string pipeline, const ProgressBoard& board,
               const Clock& clock, Parts parts);
  /// Ends the waits under way.
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  int port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
