#include "replicator/pipeline/repair/view_page.h"

#include "replicator/elasticsearch/read/document_reader.h"
#include "replicator/pipeline/repair/canonical_json.h"

namespace lockstep {

ViewPage read_view_page(SourceSnapshot& snapshot, const AppliedIndex& index,
                        const std::optional<DocumentId>& after, std::int64_t limit, std::int64_t max_bytes) {
  ViewPage page;
  const ViewPageEnd end =
      snapshot.render_page(index, after, limit, max_bytes, [&](const RenderedDocument& document) {
        page.documents.push_back({DocumentId{std::string(document.id)}, std::string(document.routing)});
        page.json.emplace_back(*document.json);
      });
  page.last = end.last;
  page.end = end.end;
  return page;
}

Compared compared_through(const std::vector<std::string>& ingest_pipelines) {
  return ingest_pipelines.empty() ? Compared::kWhole : Compared::kFieldsOfView;
}

bool is_equal(Compared compared, std::string_view of_view, std::string_view stored) {
  return compared == Compared::kWhole ? same_json(of_view, stored) : has_same_members(of_view, stored);
}

bool is_equal_in_any_order(Compared compared, std::string_view of_view, std::string_view stored) {
  return compared == Compared::kWhole ? same_json_in_any_order(of_view, stored)
                                      : has_same_members_in_any_order(of_view, stored);
}

std::vector<FoundDocument> find_different(ElasticsearchClient& elasticsearch, const AppliedIndex& index,
                                          const ViewPage& page, Compared compared) {
  std::vector<FoundDocument> different;
  fetch_documents(elasticsearch, index.target(), locations_of(page.documents, page.json),
                  [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                    const FoundDocument& document = page.documents[i];
                    if (!stored || stored->routing != document.routing ||
                        !is_equal(compared, page.json[i], stored->source)) {
                      different.push_back(document);
                    }
                  });
  return different;
}

std::vector<DocumentLocation> locations_of(const std::vector<FoundDocument>& documents,
                                           const std::vector<std::string>& json) {
  std::vector<DocumentLocation> locations;
  locations.reserve(documents.size());
  for (const FoundDocument& document : documents) {
    const std::size_t expected = json.empty() ? 0 : json[locations.size()].size();
    locations.push_back({document.id.text, document.routing, expected});
  }
  return locations;
}

}  // namespace lockstep
