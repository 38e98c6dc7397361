// The keys of rows of Lockstep's own tables and of documents: a type for each, so that one can't be taken for
// another.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

/// An index of a pipeline, as `apply` has numbered it in the source.
struct IndexId {
  int value = 0;
  auto operator<=>(const IndexId&) const = default;
};

/// An expression over the rows of one table whose values the triggers write into the outbox.
struct CaptureId {
  int value = 0;
  auto operator<=>(const CaptureId&) const = default;
};

/// A job in the source. Later jobs have greater ids.
struct JobId {
  std::int64_t value = 0;
  auto operator<=>(const JobId&) const = default;
};

/// `_id` of a document, in the source's text form.
struct DocumentId {
  std::string text;
  auto operator<=>(const DocumentId&) const = default;
};

using DocumentIds = std::vector<DocumentId>;

}  // namespace lockstep
