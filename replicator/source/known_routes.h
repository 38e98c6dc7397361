// The routings under which Elasticsearch may have documents, as a table of the source has them, and their
// meaning for a document that is rendered again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "replicator/source/snapshot.h"

namespace lockstep {

class KnownRoutes {
 public:
  void add(std::string_view id, std::string_view routing) { routes_.emplace(id, routing); }

  /// Fills the document's stale routings. True: it will be written under its own, which has to be remembered
  /// before that.
  bool fill(RenderedDocument& document) const;

 private:
  std::multimap<std::string, std::string, std::less<>> routes_;  // id → routing
};

}  // namespace lockstep
