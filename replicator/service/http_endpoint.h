// [http] listen: /metrics, /healthz, /readyz and the status page, from the progress board only, and /wait.
// Nothing but the latter touches the source or Elasticsearch, and it leaves threads for the others.
#pragma once

#include <memory>
#include <string>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"
#include "replicator/pipeline/waiter.h"

namespace lockstep {

/// Serves from its own threads from construction to destruction.
class HttpEndpoint {
 public:
  /// `listen` is "host:port"; port 0 takes a free one. `waiter` is whom /wait asks; without one there is no
  /// /wait. The references must outlive this. Throws Error when the address is taken or not ours.
  HttpEndpoint(const std::string& listen, std::string pipeline, const ProgressBoard& board,
               const Clock& clock, Waiter* waiter = nullptr);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  int port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
