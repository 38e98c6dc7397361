// Tracks follow from keys: which changed row changes which documents. A path leads along foreign keys, and
// along a view's equalities, from a table to the table of the documents. Extra paths only render too much; a
// missing one loses changes. So every path counts, and a table without one is named, never left out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "replicator/source/sql_dialect.h"
#include "replicator/source/table_graph.h"

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

/// The way to documents: which tables, which joins between them, and where the _id comes from.
struct DocumentJoins {
  std::string root;                  ///< empty: unknown, and every table stays without a track
  std::string root_column;           ///< of `root`; its value is the _id
  std::map<std::string, int> reads;  ///< how often a path may come to each table; with the root
  std::vector<Join> joins;
  std::set<std::string> unreached = {};                ///< as in ViewShape
  std::map<std::string, std::string> everywhere = {};  ///< likewise
  std::map<std::string, std::string> compared = {};    ///< likewise
};

/// More paths than that from one table are not followed: it becomes unknown.
inline constexpr std::size_t kMaxPaths = 32;

/// The reads of an existing view: its own joins, and every foreign key between its tables.
DocumentJoins joins_of_view(const TableGraph& graph, const ViewShape& view);

/// A table that the graph has not stays without a track.
DraftTracks draft_tracks(const TableGraph& graph, const DocumentJoins& documents, const SqlDialect& dialect);

}  // namespace lockstep
