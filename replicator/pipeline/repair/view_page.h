// A page of a view and the same documents in Elasticsearch: for comparisons and for `verify`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/stored_document.h"
#include "replicator/source/snapshot.h"

namespace lockstep {

struct ViewPage {
  std::vector<FoundDocument> documents;  ///< those that the view has
  std::vector<std::string> json;         ///< of each
  std::optional<DocumentId> last;        ///< the last one; none: the page is empty
  bool end = false;                      ///< the view has no further documents
};

/// Reads the documents of the view behind `after`, at most `limit` and about `max_bytes`.
ViewPage read_view_page(SourceSnapshot& snapshot, const AppliedIndex& index,
                        const std::optional<DocumentId>& after, std::int64_t limit, std::int64_t max_bytes);

/// The part of a document that Elasticsearch is known to keep as the view gives it.
enum class Compared {
  kWhole,
  kFieldsOfView,  ///< the index has an ingest pipeline, which may add others
};

Compared compared_through(const std::vector<std::string>& ingest_pipelines);

/// Whether a stored document is the view's.
bool is_equal(Compared compared, std::string_view of_view, std::string_view stored);

/// The same, in any order of its arrays' elements.
bool is_equal_in_any_order(Compared compared, std::string_view of_view, std::string_view stored);

/// Returns those of the page that differ in Elasticsearch, are under another routing there, or are missing.
std::vector<FoundDocument> find_different(ElasticsearchClient& elasticsearch, const AppliedIndex& index,
                                          const ViewPage& page, Compared compared);

/// For fetch_documents(). Valid as long as `documents` are. `json`, if it is given, is each one's in the
/// view.
std::vector<DocumentLocation> locations_of(const std::vector<FoundDocument>& documents,
                                           const std::vector<std::string>& json = {});

}  // namespace lockstep
