// Tracks follow from what a view joins: which changed row changes which documents (view_paths.h). A missing
// one loses changes, so a table without a track is named, never left out.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "replicator/source/sql_dialect.h"
#include "replicator/source/table_graph.h"
#include "replicator/source/view/view_graph.h"

namespace lockstep {

/// One track, in the words of the configuration.
struct DraftTrack {
  std::string table;
  std::string row;  ///< empty: the primary key
  std::vector<std::string>
      queries;                     ///< from $1 to _ids, for `keys`, as a union; none: the values are the _ids
  std::vector<std::string> paths;  ///< for people: "shop.tags → shop.order_tags → shop.orders"
};

/// A table for which no track could be drafted.
struct UnknownTrack {
  std::string table;
  std::string reason;
  std::vector<DraftTrack> known = {};  ///< those of the table that could, but there must be more
  std::string every_document = {};     ///< the query that finds every _id; empty: nobody knows one
};

struct DraftIndex {
  std::string table;
  ColumnNames columns;
};

struct DraftTracks {
  std::vector<DraftTrack> tracks;  ///< the documents' own table first
  std::vector<UnknownTrack> unknown;
  std::vector<DraftIndex>
      missing_indices;  ///< columns for look-ups by tracks and view with which no index begins
};

/// `reads` are the view's tables; one that the view's graph or `tables` do not show stays without a track.
DraftTracks draft_tracks(const TableGraph& tables, const ViewGraph& view, const std::set<std::string>& reads,
                         const SqlDialect& dialect);

}  // namespace lockstep
