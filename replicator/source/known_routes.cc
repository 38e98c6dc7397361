#include "replicator/source/known_routes.h"

#include "replicator/document_limits.h"

namespace lockstep {

bool KnownRoutes::fill(RenderedDocument& document) const {
  document.stale_routings.clear();
  const auto [first, last] = routes_.equal_range(document.id);
  for (auto route = first; route != last; ++route) {
    if (!document.json || route->second != document.routing) document.stale_routings.push_back(route->second);
  }
  return document.json && !document.is_ambiguous && document.id.size() <= kMaxIdBytes &&
         document.routing.size() <= kMaxRoutingBytes;
}

}  // namespace lockstep
