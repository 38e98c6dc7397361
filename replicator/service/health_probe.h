// Asks a service on this machine how it is, over the HTTP that it serves: for health checks of containers,
// which have no other program to ask with.
#pragma once

#include <string>

#include "replicator/service/health.h"

namespace lockstep {

struct ProbeAnswer {
  Verdict verdict = Verdict::kGood;
  std::string text;  ///< the service's answer, in one line
};

/// `listen` is that of the service, "host:port"; `path` is "/healthz" or "/readyz"; `config_file` is for the
/// remedy. Throws Error if nothing answers within two seconds.
ProbeAnswer ask_health(const std::string& listen, const std::string& path,
                       const std::string& config_file = "");

}  // namespace lockstep
