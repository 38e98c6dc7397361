// A pipeline as `apply` has left it in the source: replication's knowledge of a configuration. How a source
// leads from values to ids, and which types and columns a view has, stays below the seam.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replicator/error.h"
#include "replicator/ids.h"

namespace lockstep {

struct AppliedIndex {
  IndexId id;
  std::string alias;  ///< of the searchers; next to another generation the real index's name
  std::optional<std::string> written_by = {};  ///< an alias of this generation alone; none: there is no other
  std::optional<std::string> beside = {};  ///< the searchers' alias, of the other generation; none: its own
  std::string view;                        ///< quoted, for messages
  bool routed = false;                     ///< the view has a column _routing
  std::vector<CaptureId> captures;         ///< whose changes lead to documents of this index
  std::optional<std::string> set_aside = {};  ///< why its view could not be read; none: it could

  /// The name by which it is written and read. A generation never by the searchers' alias, which may move.
  const std::string& target() const { return written_by ? *written_by : alias; }
};

struct AppliedPipeline {
  int id = 0;
  std::string name;
  std::string identity;  ///< uuid, also in the mark that every index carries
  std::string revision;  ///< changes with every `apply` that changes anything
  std::vector<AppliedIndex> indices;

  /// Null: it has no such index.
  const AppliedIndex* find(IndexId index) const;
};

/// A view, or a query that leads to its documents, differs from the one that `apply` found: the same reading
/// fails again.
class ViewError : public Error {
 public:
  ViewError(const Parts& parts, IndexId index) : Error(parts), index_(index) {}
  IndexId index() const { return index_; }

 private:
  IndexId index_;
};

/// Reading a view, or a query that leads to its documents, took longer than it may here: it waits for a lock,
/// a row takes long to render, or it met an obstacle that may pass. Elsewhere, or later, the same reading may
/// succeed.
class ViewTooSlow : public Error {
 public:
  ViewTooSlow(const Parts& parts, IndexId index) : Error(parts), index_(index) {}
  IndexId index() const { return index_; }

 private:
  IndexId index_;
};

}  // namespace lockstep
