// The metrics of a pipeline in Prometheus' text format, all from one snapshot of the progress, so that they
// agree with one another. docs/monitoring.md lists them.
#pragma once

#include <string>
#include <vector>

#include "replicator/pipeline/progress.h"
#include "replicator/service/certificate_watch.h"

namespace lockstep {

/// The content of /metrics.
std::string metrics_text(const std::string& pipeline, const ReplicationProgress& progress,
                         const CertificateExpiries& certificates, SteadyTime now);

/// The names of all metrics, for the test that compares them with the documentation and the dashboard.
std::vector<std::string> metric_names();

}  // namespace lockstep
