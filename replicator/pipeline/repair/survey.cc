#include "replicator/pipeline/repair/survey.h"

#include <algorithm>
#include <iterator>

#include "replicator/elasticsearch/admin/ingest_pipelines.h"

namespace lockstep {
namespace {

void keep_some(std::vector<FoundDocument>& examples, const std::vector<FoundDocument>& found) {
  const std::size_t room = kSurveyExamples - std::min(kSurveyExamples, examples.size());
  std::copy_n(found.begin(), std::min(room, found.size()), std::back_inserter(examples));
}

std::int64_t size_of(const std::vector<FoundDocument>& documents) {
  return static_cast<std::int64_t>(documents.size());
}

}  // namespace

Survey survey(const Config& config, ViewReader& views, ElasticsearchClient& elasticsearch,
              const AppliedIndex& index, const SurveyListener& listener) {
  Survey result;
  result.ingest_pipelines = ingest_pipelines_of(elasticsearch, index.target());
  elasticsearch.refresh(index.target());
  std::int64_t total = elasticsearch.count(index.target());
  SurveyListener::Pass pass = SurveyListener::Pass::kComparing;
  std::int64_t read = 0;
  Passes passes(
      {config, [&] { return views.read(); }, elasticsearch, index, compared_through(result.ingest_pipelines)},
      {.read =
           [&](std::int64_t documents) {
             read = documents;
             listener.progress(pass, documents, std::max(total, documents));
           },
       .suspects =
           [&](const Suspects& suspects) {
             result.missing += size_of(suspects.missing);
             result.different += size_of(suspects.different);
             result.surplus += size_of(suspects.surplus);
             keep_some(result.examples.missing, suspects.missing);
             keep_some(result.examples.different, suspects.different);
             keep_some(result.examples.surplus, suspects.surplus);
             listener.found(suspects);
           }});
  passes.compare_documents();
  result.in_index = read;
  result.greatest_version = passes.greatest_version();
  pass = SurveyListener::Pass::kLookingForMissing;
  elasticsearch.refresh(index.target());
  result.in_view = passes.look_for_missing();
  return result;
}

}  // namespace lockstep
