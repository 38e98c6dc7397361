// Has documents rendered, as many at once as fill a request and no more. The source cuts its answer at a
// number of bytes, but by then it has rendered everything that it was asked for. So the number asked for
// follows the size of the last documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "replicator/pipeline/step_documents.h"
#include "replicator/source/transaction.h"

namespace lockstep {

/// So much is rendered before an Elasticsearch that has nothing to do gets it: the rest follows meanwhile.
inline constexpr std::int64_t kFirstDocuments = 500;

/// The size of documents, by those that came last.
class RenderedSize {
 public:
  struct Order {
    std::int64_t documents = 0;   ///< at most; at least 1
    std::int64_t json_bytes = 0;  ///< about; at least 1
  };

  /// The order to the source that fills so many bytes of requests, action lines included.
  Order order(std::size_t room, std::int64_t most_documents) const;

  /// Bytes of so many documents in requests, as far as is known: 0 while none has come.
  std::size_t of(std::size_t documents) const;

  /// A step's size before an order was carried out, and its present one.
  void came(const StepSize& before, const StepSize& after);

 private:
  double each_ = 0;             // bytes of a document in a request; 0: none has come
  double share_of_json_ = 0.4;  // of these bytes
};

/// For the documents of one index, or of one job.
class Rendering {
 public:
  /// Until the step has at least most of `full_bytes`, or so many documents more, or no ids are left. Takes
  /// the rendered ones from `ids`. `sink` sees each document, too.
  void render(SourceTransaction& transaction, const AppliedIndex& index, DocumentIds& ids,
              StepDocuments& documents, std::size_t full_bytes, std::int64_t most_documents,
              const DocumentSink& sink = {});

  /// The same for the documents of the view behind `after`.
  ViewPageEnd render_page(SourceTransaction& transaction, const AppliedIndex& index,
                          std::optional<DocumentId> after, StepDocuments& documents, std::size_t full_bytes,
                          std::int64_t most_documents);

  const RenderedSize& size() const { return size_; }

 private:
  RenderedSize size_;
};

/// Whether so many bytes are enough, if `full` would be full: the rest is worth no round trip.
bool is_nearly_full(std::size_t bytes, std::size_t full);

}  // namespace lockstep
