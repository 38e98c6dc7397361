// Connections to both sides of a pipeline, for the verbs that change or check its definition.
#pragma once

#include <memory>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/pipeline/deployment.h"
#include "replicator/source/source_definition.h"

namespace lockstep {

struct BothSides {
  /// Connects to the source; Elasticsearch is connected to when it is first asked. `config` must outlive
  /// this.
  explicit BothSides(const Config& config)
      : source(open_source_definition(config)),
        elasticsearch(make_transport_factory(config.elasticsearch)(), config.elasticsearch.request_timeout),
        deployment(config, *source, elasticsearch) {}

  std::unique_ptr<SourceDefinition> source;
  ElasticsearchClient elasticsearch;
  Deployment deployment;
};

}  // namespace lockstep
