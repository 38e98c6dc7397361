// Faults between a configuration and its two servers, before anything runs. Changes nothing, and reports all
// faults at once: an Elasticsearch that is away hides no fault of the database.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/source/definition.h"
#include "replicator/source/source_definition.h"

namespace lockstep {

struct Preflight {
  std::vector<Finding> findings;     ///< insecure settings: the source's, then Elasticsearch's
  std::vector<std::string> servers;  ///< the servers that answered: "PostgreSQL 15.4", "Elasticsearch 7.10.2"
};

/// Servers that cannot be reached, and views, tracks and mappings that do not fit, are findings, no
/// exceptions.
Preflight preflight(const Config& config,
                    const std::function<std::unique_ptr<SourceDefinition>()>& open_source,
                    ElasticsearchClient& elasticsearch);

}  // namespace lockstep
