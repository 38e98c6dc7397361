#include "replicator/elasticsearch/admin/ingest_pipelines.h"

#include <algorithm>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"

namespace lockstep {
namespace {

constexpr const char* kNoPipeline = "_none";

}  // namespace

std::vector<std::string> ingest_pipelines(const nlohmann::json& flat_settings) {
  std::vector<std::string> pipelines;
  for (const char* setting : {"index.default_pipeline", "index.final_pipeline"}) {
    const std::string name = text_at(flat_settings, setting);
    const bool is_new = std::find(pipelines.begin(), pipelines.end(), name) == pipelines.end();
    if (!name.empty() && name != kNoPipeline && is_new) pipelines.push_back(name);
  }
  return pipelines;
}

std::vector<std::string> ingest_pipelines_of(ElasticsearchClient& client, const std::string& alias) {
  std::vector<std::string> pipelines;
  for (const IndexState& index : client.indices_of(alias)) {
    for (std::string& name : ingest_pipelines(index.settings)) pipelines.push_back(std::move(name));
  }
  return pipelines;
}

bool lacks_ingest_pipeline(ElasticsearchClient& client, const std::string& pipeline) {
  const HttpResponse response =
      client.send("looking up the ingest pipeline " + pipeline, "GET",
                  "/_ingest/pipeline/" + percent_encoded(pipeline), {}, {400, 401, 403, kNotFound, 405});
  return response.status == kNotFound;
}

}  // namespace lockstep
