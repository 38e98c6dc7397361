// [http] listen: /metrics, /healthz, /readyz and the status page, which read the progress board only, and
// /wait. Only /wait asks the source and Elasticsearch; it leaves threads for the others.
#pragma once

#include <memory>
#include <string>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/waiter.h"

namespace lockstep {

/// Serves in its own threads from construction to destruction.
class HttpEndpoint {
 public:
  /// `listen` is "host:port"; port 0 takes a free one. Without a `waiter` there is no /wait. The references
  /// must outlive this. Throws Error when the address is taken or not ours.
  HttpEndpoint(const std::string& listen, std::string pipeline, const ProgressBoard& board,
               const Clock& clock, Waiter* waiter = nullptr);
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
