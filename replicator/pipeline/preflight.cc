#include "replicator/pipeline/preflight.h"

#include <algorithm>
#include <map>
#include <optional>

#include "replicator/elasticsearch/admin/index_fitness.h"
#include "replicator/elasticsearch/admin/index_mapping.h"
#include "replicator/elasticsearch/admin/index_plan.h"
#include "replicator/elasticsearch/admin/ingest_pipelines.h"
#include "replicator/elasticsearch/admin/privileges.h"
#include "replicator/error.h"
#include "replicator/pipeline/exposure.h"
#include "replicator/wrong_configuration.h"

namespace lockstep {
namespace {

using Cause = Finding::Cause;
using Severity = Finding::Severity;

Finding of_error(const std::string& place, const Error& error) {
  const Error::Parts& parts = error.parts();
  const bool is_wrong_configuration = dynamic_cast<const WrongConfiguration*>(&error) != nullptr;
  // A server that is away answers no question, whichever it is.
  if (parts.server == Server::kElasticsearch && error.retryable())
    return {Severity::kError, place, parts.cause, parts.remedy, Cause::kServer};
  return {Severity::kError, place, parts.doing + ": " + parts.cause, parts.remedy,
          is_wrong_configuration ? Cause::kDefinition : Cause::kServer};
}

std::string place_of(const Config& config, const IndexConfig& index) {
  return config.file.string() + ":" + std::to_string(index.line);
}

// What the source contributes to the judgement of its indices.
struct SourceFacts {
  std::string identity;
  std::map<std::string, std::vector<std::string>> fields;  // by alias
  std::vector<std::string> applied;                        // aliases
};

// None: the source could not be asked.
std::optional<SourceFacts> check_source(const std::function<std::unique_ptr<SourceDefinition>()>& open_source,
                                        Preflight& result) {
  try {
    const std::unique_ptr<SourceDefinition> source = open_source();
    result.servers.push_back(source->server());
    for (Finding& finding : source->check()) result.findings.push_back(std::move(finding));
    return SourceFacts{source->identity(), source->document_fields(), source->applied_aliases()};
  } catch (const Error& error) {
    // The findings so far give better reasons.
    if (!has_errors(result.findings)) result.findings.push_back(of_error("source", error));
    return std::nullopt;
  }
}

bool check_engine(ElasticsearchClient& elasticsearch, Preflight& result) {
  const EngineInfo engine = elasticsearch.info();
  result.servers.push_back(engine.text());
  if (engine.supported()) return true;
  result.findings.push_back({Severity::kError, "elasticsearch", engine.text() + " is not supported",
                             "use Elasticsearch 7.10 to 9, or OpenSearch 2 or 3", Cause::kServer});
  return false;
}

bool check_privileges(const Config& config, ElasticsearchClient& elasticsearch, Preflight& result) {
  std::vector<std::string> aliases;
  for (const IndexConfig& index : config.indices) aliases.push_back(index.alias);
  const std::vector<std::string> missing = missing_privileges(elasticsearch, aliases);
  for (const std::string& privileges : missing) {
    result.findings.push_back({Severity::kError, "elasticsearch", "the user lacks " + privileges,
                               "add these privileges to the user's role, or to the API key", Cause::kServer});
  }
  return missing.empty();
}

// `settings` are flat, of the mapping file or of the index.
void check_ingest_pipelines(const IndexConfig& index, const std::string& place,
                            const nlohmann::json& settings, ElasticsearchClient& elasticsearch,
                            Preflight& result) {
  for (const std::string& pipeline : ingest_pipelines(settings)) {
    if (lacks_ingest_pipeline(elasticsearch, pipeline)) {
      result.findings.push_back({Severity::kError, place,
                                 "index " + index.alias + " names the ingest pipeline " + pipeline +
                                     ", which Elasticsearch does not have",
                                 "create it, or set index.default_pipeline and index.final_pipeline to _none",
                                 Cause::kServer});
    } else {
      result.findings.push_back(
          {Severity::kWarning, place,
           "index " + index.alias + " sends its documents through the ingest pipeline " + pipeline +
               ": `verify` compares the fields that the view has, and no others",
           "let the view, not the pipeline, change these fields: otherwise they always differ"});
    }
  }
}

// The index as it is: a plan looks at the mapping file.
void check_fitness(const IndexConfig& index, const std::string& place, const IndexState& state,
                   Preflight& result) {
  const std::optional<UnfitIndex> unfit = why_unfit(state.mappings, state.settings);
  if (!unfit) return;
  result.findings.push_back({Severity::kError, place, "index " + index.alias + " has " + unfit->problem,
                             unfit->remedy, Cause::kServer});
}

void check_index(const Config& config, const IndexConfig& index, const std::optional<SourceFacts>& source,
                 ElasticsearchClient& elasticsearch, Preflight& result) {
  const IndexMapping mapping = parse_mapping(index.mapping.string(), index.mapping_json);
  if (const auto problem = validate_mapping(elasticsearch, index.alias, mapping)) {
    result.findings.push_back({Severity::kError, index.mapping.string(),
                               "Elasticsearch refuses the mapping of " + index.alias + ": " + *problem,
                               "correct the mapping file"});
    return;
  }
  const std::vector<IndexState> existing = elasticsearch.indices_of(index.alias);
  if (existing.empty()) {
    if (source && std::ranges::find(source->applied, index.alias) != source->applied.end()) {
      result.findings.push_back(
          {Severity::kError, place_of(config, index),
           "index " + index.alias + " was applied, and there is no index or alias of this name",
           "run `lockstep apply`, which makes and fills it; if its alias was moved by hand, "
           "move it back",
           Cause::kServer});
    }
    const nlohmann::json settings = flat_settings(mapping.settings);
    check_ingest_pipelines(index, index.mapping.string(), settings, elasticsearch, result);
  }
  for (const IndexState& state : existing) {
    check_ingest_pipelines(index, place_of(config, index), state.settings, elasticsearch, result);
    check_fitness(index, place_of(config, index), state, result);
  }
  if (!source) return;  // without its identity an index's owner is unknown
  const DesiredIndex desired{index.alias, index.view, mapping, config.pipeline, source->identity};
  const auto fields = source->fields.find(index.alias);
  if (fields != source->fields.end()) {
    if (const auto refusal = refusal_of_fields(desired, fields->second)) {
      result.findings.push_back(
          {Severity::kError, index.mapping.string(), refusal->problem, refusal->remedy});
    }
  }
  const IndexPlan plan = plan_index(elasticsearch, desired);
  if (plan.kind == IndexPlan::Kind::kRefuse || plan.kind == IndexPlan::Kind::kReindex) {
    result.findings.push_back(
        {Severity::kError, place_of(config, index), plan.problem, plan.remedy, Cause::kServer});
  }
}

}  // namespace

Preflight preflight(const Config& config,
                    const std::function<std::unique_ptr<SourceDefinition>()>& open_source,
                    ElasticsearchClient& elasticsearch) {
  Preflight result;
  result.findings = exposure_of(config);
  const std::optional<SourceFacts> source = check_source(open_source, result);
  try {
    if (!check_engine(elasticsearch, result) || !check_privileges(config, elasticsearch, result))
      return result;
    for (const IndexConfig& index : config.indices) {
      try {
        check_index(config, index, source, elasticsearch, result);
      } catch (const Error& error) {
        if (error.retryable()) throw;
        result.findings.push_back(of_error(place_of(config, index), error));
      }
    }
  } catch (const Error& error) {
    result.findings.push_back(of_error("elasticsearch", error));
  }
  return result;
}

}  // namespace lockstep
