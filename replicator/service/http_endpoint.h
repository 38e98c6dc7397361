// [http] listen: /metrics, /healthz, /readyz and the status page, from the progress board only; nothing that
// is asked here touches the source or Elasticsearch.
#pragma once

#include <memory>
#include <string>

#include "replicator/clock.h"
#include "replicator/pipeline/progress.h"

namespace lockstep {

/// Serves from its own threads from construction to destruction.
class HttpEndpoint {
 public:
  /// `listen` is "host:port"; port 0 takes a free one. The references must outlive this. Throws Error when
  /// the address is taken or not ours.
  HttpEndpoint(const std::string& listen, std::string pipeline, const ProgressBoard& board,
               const Clock& clock);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  int port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
