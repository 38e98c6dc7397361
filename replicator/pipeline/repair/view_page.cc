#include "replicator/pipeline/repair/view_page.h"

#include "replicator/pipeline/repair/canonical_json.h"

namespace lockstep {

ViewPage read_view_page(Source& source, const AppliedIndex& index, const std::optional<std::string>& after,
                        std::int64_t limit, std::int64_t max_bytes) {
  ViewPage page;
  const SourceTransaction::Page rendered = source.begin_reading()->render_page(
      index, after, limit, max_bytes, std::nullopt, [&](const RenderedDocument& document) {
        page.documents.push_back({std::string(document.id), std::string(document.routing)});
        page.json.emplace_back(*document.json);
      });
  page.last = rendered.last;
  page.end = rendered.end;
  return page;
}

std::vector<FoundDocument> find_different(ElasticsearchClient& elasticsearch, const AppliedIndex& index,
                                          const ViewPage& page) {
  std::vector<FoundDocument> different;
  fetch_documents(elasticsearch, index.alias, locations_of(page.documents),
                  [&](std::size_t position, const std::optional<StoredDocument>& stored) {
                    const FoundDocument& document = page.documents[position];
                    if (!stored || stored->routing != document.routing ||
                        !same_json(page.json[position], stored->source)) {
                      different.push_back(document);
                    }
                  });
  return different;
}

std::vector<DocumentLocation> locations_of(const std::vector<FoundDocument>& documents) {
  std::vector<DocumentLocation> locations;
  locations.reserve(documents.size());
  for (const FoundDocument& document : documents) locations.push_back({document.id, document.routing});
  return locations;
}

}  // namespace lockstep
