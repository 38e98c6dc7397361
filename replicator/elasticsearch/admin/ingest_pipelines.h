// Ingest pipelines through which Elasticsearch sends writes into an index: they may add fields to a document,
// and change those of the view.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"

namespace lockstep {

/// The pipelines that flat settings name (index.default_pipeline, index.final_pipeline), each once.
std::vector<std::string> ingest_pipelines(const nlohmann::json& flat_settings);

/// The same of the indices behind an alias. Throws Error as the client does.
std::vector<std::string> ingest_pipelines_of(ElasticsearchClient& client, const std::string& alias);

/// Whether Elasticsearch reports that it has no such pipeline. A user who may not ask learns nothing: false.
bool lacks_ingest_pipeline(ElasticsearchClient& client, const std::string& pipeline);

}  // namespace lockstep
