// `lockstep check`: finds what is wrong between a configuration and its two servers, and changes nothing.
#include <iostream>

#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/plan_text.h"
#include "replicator/cli/verb.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/pipeline/preflight.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

class Check final : public Verb {
 public:
  const char* name() const override { return "check"; }
  const char* summary() const override {
    return "Check the configuration, the views, the tracks, the privileges and both connections";
  }
  const char* example() const override { return "lockstep check -c shop.toml"; }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    pipeline_.add_owner_to(options);
  }

  ExitCode run() override {
    const Config config = pipeline_.load();
    ElasticsearchClient elasticsearch(make_transport_factory(config.elasticsearch)(),
                                      config.elasticsearch.request_timeout);
    const Preflight result = preflight(
        config, [&] { return open_source_definition(config); }, elasticsearch);
    for (const Finding& finding : result.findings) std::cout << finding_text(finding);
    std::string servers;
    for (const std::string& server : result.servers) servers += (servers.empty() ? "" : ", ") + server;
    if (!servers.empty()) std::cerr << "asked " << servers << '\n';
    if (has_errors(result.findings)) return ExitCode::kFailed;
    std::cout << "pipeline " << config.pipeline << ": no errors\n";
    return ExitCode::kDone;
  }

 private:
  PipelineOption pipeline_;
};

}  // namespace

std::unique_ptr<Verb> make_check_verb() {
  return std::make_unique<Check>();
}

}  // namespace lockstep
