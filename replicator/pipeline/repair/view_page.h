// A page of a view beside what Elasticsearch has of it: for comparisons and for `verify`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/read/document_reader.h"
#include "replicator/source/source.h"

namespace lockstep {

struct ViewPage {
  std::vector<FoundDocument> documents;  ///< where the view has them
  std::vector<std::string> json;         ///< of each
  std::optional<std::string> last;       ///< _id of the last one; none: the page is empty
  bool end = false;                      ///< the view has no further documents
};

/// The documents of the view after `after`, at most `limit` and about `max_bytes`, in a transaction of its
/// own.
ViewPage read_view_page(Source& source, const AppliedIndex& index, const std::optional<std::string>& after,
                        std::int64_t limit, std::int64_t max_bytes);

/// Those of the page that Elasticsearch does not have as they are, under their routing.
std::vector<FoundDocument> find_different(ElasticsearchClient& elasticsearch, const AppliedIndex& index,
                                          const ViewPage& page);

/// For fetch_documents(); valid as long as `documents` are.
std::vector<DocumentLocation> locations_of(const std::vector<FoundDocument>& documents);

}  // namespace lockstep
