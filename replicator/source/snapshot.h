// One committed state of the database, for callers that only read it: `verify`, paused indices,
// `dead-letters`. Opening and closing it locks no row and delays no writer.
//
// Every function that reads a view throws ViewError if reading it again would fail in the same way,
// ViewTooSlow if the source lets it wait for a lock no longer, Error otherwise.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/applied.h"
#include "replicator/source/definition.h"
#include "replicator/source/outbox/change.h"

namespace lockstep {

/// A document as the snapshot has it. The texts live as long as the call of the sink.
struct RenderedDocument {
  std::string_view id;
  std::string_view routing;              ///< empty: none
  std::optional<std::string_view> json;  ///< none: the view has no such document
  /// Routings under which Elasticsearch may still have the document and under which it no longer belongs.
  /// Filled only by SourceTransaction, and only for routed indices.
  std::vector<std::string> stale_routings;
  /// The view has several rows with this _id; this is the first that was read.
  bool is_ambiguous = false;
  /// Why the row makes no document that can be written; empty: it does.
  std::string_view fault = {};
};
using DocumentSink = std::function<void(const RenderedDocument&)>;

/// A document that Elasticsearch has.
struct FoundDocument {
  DocumentId id;
  std::string routing;  ///< empty: none
  auto operator<=>(const FoundDocument&) const = default;
};

/// A document that Elasticsearch has and the view does not, or not there.
struct StaleDocument {
  FoundDocument found;
  bool elsewhere = false;  ///< the view has its id, under another routing
};

/// A page of a view in the order of _id.
struct ViewPageEnd {
  std::optional<DocumentId> last;  ///< the last document of the page; none: the page is empty
  bool end = false;                ///< the view has no further documents
};

/// A page of a view in the order of _id, without the documents' contents.
struct ViewList {
  std::vector<FoundDocument> documents;
  bool end = false;  ///< the view has no further documents
};

class SourceSnapshot {
 public:
  virtual ~SourceSnapshot() = default;

  /// This snapshot, as a point in the stream of changes (ChangeLog::has_passed()).
  virtual Position position() = 0;

  /// Renders the documents of `ids`, those that the view does not have included, in no particular order. Its
  /// _id need not be able to have their values: they may come from Elasticsearch. Stops after about
  /// `max_bytes` of JSON, but never before one document; returns the ids left over.
  virtual DocumentIds render(const AppliedIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                             const DocumentSink& sink) = 0;

  /// Renders the documents of the view behind `after` (none: from the first one), at most `limit` of them and
  /// about `max_bytes` of JSON.
  virtual ViewPageEnd render_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                                  std::int64_t limit, std::int64_t max_bytes, const DocumentSink& sink) = 0;

  /// Lists the documents of the view behind `after` (none: from the first one), at most `limit` of them.
  virtual ViewList list_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                             std::int64_t limit) = 0;

  /// About how many documents the view has; none if that takes long to find out.
  virtual std::optional<std::int64_t> estimate_documents(const AppliedIndex& index) = 0;

  /// Returns those of `found` that the view does not have, or has under another routing.
  virtual std::vector<StaleDocument> stale(const AppliedIndex& index,
                                           const std::vector<FoundDocument>& found) = 0;

  /// The differences between the shape of the present view's documents and the index's: columns, _routing,
  /// the type of _id. Empty: there are none, or the view is gone, which reading it reports.
  virtual std::vector<DefinitionDifference> reshaped(const AppliedIndex& index) = 0;

  /// Throws ViewError if the view, from which it reads at most one document, or a query that leads to its
  /// documents cannot be executed, ViewTooSlow if it has to wait for a lock.
  virtual void require_readable(const AppliedIndex& index) = 0;
};

}  // namespace lockstep
