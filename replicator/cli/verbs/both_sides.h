// Connections to both sides of a pipeline, for the commands that change its definition.
#pragma once

#include <memory>
#include <set>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/pipeline/deployment.h"
#include "replicator/source/open_source.h"

namespace lockstep {

struct BothSides {
  /// Connects to the source now, to Elasticsearch with the first request. `config` must outlive this.
  explicit BothSides(const Config& config, const std::set<std::string>& adopted = {})
      : source(open_source_definition(config)),
        elasticsearch(make_transport_factory(config.elasticsearch)(), config.elasticsearch.request_timeout),
        deployment(config, *source, elasticsearch, adopted) {}

  std::unique_ptr<SourceDefinition> source;
  ElasticsearchClient elasticsearch;
  Deployment deployment;
};

}  // namespace lockstep
