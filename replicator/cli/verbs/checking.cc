#include "replicator/cli/verbs/checking.h"

#include <iostream>

#include "replicator/cli/text/plan_text.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/pipeline/preflight.h"
#include "replicator/source/open_source.h"

namespace lockstep {

ExitCode check_pipeline(const Config& config) {
  ElasticsearchClient elasticsearch(make_transport_factory(config.elasticsearch)(),
                                    config.elasticsearch.request_timeout);
  const Preflight result = preflight(
      config, [&] { return open_source_definition(config); }, elasticsearch);
  for (const Finding& finding : result.findings) std::cout << finding_text(finding);
  std::string servers;
  for (const std::string& server : result.servers) servers += (servers.empty() ? "" : ", ") + server;
  if (!servers.empty()) std::cerr << "asked " << servers << '\n';
  if (has_errors(result.findings, Finding::Cause::kDefinition)) return ExitCode::kUsage;
  if (has_errors(result.findings)) return ExitCode::kFailed;
  std::cout << "pipeline " << config.pipeline << ": no errors\n" << std::flush;
  return ExitCode::kDone;
}

}  // namespace lockstep
