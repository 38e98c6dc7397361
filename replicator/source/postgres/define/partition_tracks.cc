#include "replicator/source/postgres/define/partition_tracks.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "replicator/source/postgres/catalog/node_tree.h"
#include "replicator/source/postgres/define/capture.h"
#include "replicator/source/postgres/define/probe.h"
#include "replicator/source/postgres/define/resolver.h"

namespace lockstep {
namespace {

using Columns = std::set<int>;

bool has_word(std::string text, std::string_view word) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find(word) != std::string::npos;
}

// Whether it has a value to compare a null with.
bool handles_null(const std::string& sql) {
  return has_word(sql, "null") || has_word(sql, "coalesce") || has_word(sql, "distinct");
}

bool is_in(const Columns& some, const Columns& all) {
  return !some.empty() && std::includes(all.begin(), all.end(), some.begin(), some.end());
}

class Search {
 public:
  Search(PostgresTransaction& transaction, const IndexConfig& config, const std::string& view,
         const ViewLinks& links)
      : transaction_(transaction), config_(config), view_(view), links_(links) {}

  std::vector<UntrackedPartition> find() {
    const std::vector<ViewPartition> partitions = partitions_over_documents(links_);
    if (partitions.empty()) return {};  // as in most views, whose tracks cost no look at their tables then
    for (const TrackConfig& track : config_.tracks) {
      std::string why;
      if (const auto table = find_relation(transaction_, track.table, why))
        tracks_.push_back({&track, table->name, {}, {}});
    }
    for (const ViewPartition& partition : partitions) {
      for (const std::size_t place : partition.deciding) {
        const PostgresRelation table = describe_relation(transaction_, links_.tables[place]);
        if (table.is_table()) look_at(partition, place, table);
      }
    }
    return std::move(found_);
  }

 private:
  enum class Leads { kToFewer, kNotKnown, kToAllWithValues, kToAll };

  struct Track {
    const TrackConfig* config;
    std::string table;
    std::optional<Columns> columns;  // that its row is made of, once they are known
    std::optional<ViewLinks> keys;   // likewise
  };

  void look_at(const ViewPartition& partition, std::size_t place, const PostgresRelation& table) {
    const std::vector<std::string> whole = table_ancestors(transaction_, table.oid);
    Leads best = Leads::kToFewer;
    int line = 0;
    Columns with_nulls;  // columns whose nulls tracks follow
    for (Track& track : tracks_) {
      if (track.table != table.name && std::find(whole.begin(), whole.end(), track.table) == whole.end())
        continue;
      if (track.config->ignore) return;
      line = track.config->line;
      best = std::max(best, leads(track, partition, place, table));
      if (handles_null(track.config->row)) with_nulls.insert(track.columns->begin(), track.columns->end());
    }
    const Columns nullable = nullable_columns(partition, place, table);
    if (line == 0 || best == Leads::kToAll) return;  // without one it is untracked, which is reported
    if (best == Leads::kToAllWithValues && (nullable.empty() || is_in(nullable, with_nulls))) return;
    std::string message = "view " + view_ + " has " + partition.clause + " over rows of " + table.name + ": ";
    if (best == Leads::kToAllWithValues)
      message += "rows whose " + names(nullable, table) +
                 " is null are a partition, too, to which no track of " + table.name + " leads";
    else
      message +=
          "a changed row changes the documents of other rows, to which no track of " + table.name + " leads";
    if (!known_.emplace(table.name, message + remedy(partition, place, table)).second) return;
    found_.push_back({best != Leads::kNotKnown, line, message, remedy(partition, place, table)});
  }

  Leads leads(Track& track, const ViewPartition& partition, std::size_t place,
              const PostgresRelation& table) {
    const TrackConfig& config = *track.config;
    if (!track.columns) track.columns = columns_of(config, table);
    const bool has_keys = !config.keys.empty();
    if (has_keys && config.keys.find("$1") == std::string::npos) return best_without_values(config);
    if (!has_keys && config.column.empty()) return Leads::kToFewer;  // its values are the _ids
    if (partition.everywhere.contains(place) && !is_expressed(partition, place)) return Leads::kToFewer;
    Columns common = columns_at(partition.shared, place);
    if (const Columns expressed = columns_at(partition.expressed, place); !expressed.empty()) {
      common.insert(expressed.begin(), expressed.end());
      if (is_in(*track.columns, common) && track.columns->size() == 1 && is_column(config, table) &&
          is_in(*track.columns, expressed))
        return Leads::kNotKnown;
    }
    if (is_in(*track.columns, common)) {
      const Columns nullable = nullable_columns(partition, place, table);
      return std::none_of(track.columns->begin(), track.columns->end(),
                          [&](int column) { return nullable.contains(column); })
                 ? Leads::kToAll
                 : Leads::kToAllWithValues;
    }
    if (partition.everywhere.contains(place)) return Leads::kToFewer;
    // Those that it finds by the row itself are not found by one that is gone, or has another value by now.
    if (partition.anchors.contains(place))
      return has_keys && keys_lead(track, partition, table) == Leads::kToFewer ? Leads::kToFewer
                                                                               : Leads::kNotKnown;
    const auto linked = partition.linked.find(place);
    if (!has_keys || linked == partition.linked.end() || !is_in(*track.columns, linked->second))
      return Leads::kToFewer;
    const Leads by_keys = keys_lead(track, partition, table);
    return by_keys == Leads::kToAllWithValues ? Leads::kToFewer : by_keys;
  }

  // `keys` need no value if `row` shows that there is none.
  static Leads best_without_values(const TrackConfig& config) {
    return handles_null(config.row) && handles_null(config.keys) ? Leads::kToFewer : Leads::kToAll;
  }

  bool is_expressed(const ViewPartition& partition, std::size_t place) const {
    return !columns_at(partition.expressed, place).empty();
  }

  // Whether they go from a row to others by the partition's common columns.
  Leads keys_lead(Track& track, const ViewPartition& partition, const PostgresRelation& table) {
    if (!track.keys) track.keys = links_of(track, table);
    if (track.keys->tables.empty()) return Leads::kNotKnown;
    for (const auto& some : partition.anchors) {
      const std::size_t anchor = some.first;
      const Columns& columns = some.second;
      const unsigned peers = links_.tables[anchor];
      const auto is_peer = [&](const ViewLink& link) {
        return track.keys->tables[link.place] == peers && track.keys->tables[link.other] == peers &&
               std::all_of(link.columns.begin(), link.columns.end(), [&](const auto& pair) {
                 return pair.first == pair.second && columns.contains(pair.first);
               });
      };
      const bool is_by_nulls = has_word(track.config->keys, "distinct from") &&
                               std::count(track.keys->tables.begin(), track.keys->tables.end(), peers) > 1;
      if (!is_by_nulls && std::none_of(track.keys->links.begin(), track.keys->links.end(), is_peer)) continue;
      const PostgresRelation relation = describe_relation(transaction_, peers);
      const bool has_nulls = !nullable_columns(partition, anchor, relation).empty();
      return has_nulls && !handles_null(track.config->keys) ? Leads::kToAllWithValues : Leads::kToAll;
    }
    return Leads::kToFewer;
  }

  // --- the server's knowledge of a track's SQL ---

  static bool is_column(const TrackConfig& track, const PostgresRelation& table) {
    return std::any_of(table.columns.begin(), table.columns.end(), [&](const PostgresColumn& column) {
      return track.row == column.quoted || track.row == column.name;
    });
  }

  Columns columns_of(const TrackConfig& track, const PostgresRelation& table) const {
    Columns columns;
    if (track.row.empty()) {
      for (const PostgresColumn* const column : table.primary_key()) columns.insert(column->number);
      return columns;
    }
    for (const PostgresColumn& column : table.columns) {
      if (track.row == column.quoted || track.row == column.name) return {column.number};
    }
    const auto reads = reads_of_query(
        transaction_, "select (" + track.row + "\n) as value from only " + table.name + " as " + table.alias);
    if (!reads) return columns;
    const auto own = reads->tables.find(table.oid);
    return own == reads->tables.end() ? columns : own->second.columns;
  }

  // Without tables: unknown.
  ViewLinks links_of(const Track& track, const PostgresRelation& table) const {
    const DescribedCapture capture = describe_capture(transaction_, table, *track.config);
    if (!capture.capture) return {};
    const std::string values = "(null::" + capture.capture->value_type + "[])";
    ViewLinks links;
    ask_of_query(transaction_, with_values(without_semicolon(track.config->keys), values),
                 [&](unsigned view) {
                   try {
                     links = read_links(transaction_, view, 1);
                   } catch (const NodeTreeError&) {
                     links = {};
                   }
                 });
    return links;
  }

  // --- columns ---

  static Columns columns_at(const std::set<ColumnOfPlace>& all, std::size_t place) {
    Columns columns;
    for (const auto& [at, column] : all) {
      if (at == place) columns.insert(column);
    }
    return columns;
  }

  static Columns nullable_columns(const ViewPartition& partition, std::size_t place,
                                  const PostgresRelation& table) {
    const auto anchor = partition.anchors.find(place);
    Columns columns;
    for (const int column :
         anchor == partition.anchors.end() ? columns_at(partition.expressed, place) : anchor->second) {
      if (table.column(column)->nullable && !partition.present.contains({place, column}))
        columns.insert(column);
    }
    return columns;
  }

  static std::string names(const Columns& columns, const PostgresRelation& table) {
    std::string list;
    for (const int column : columns) list += (list.empty() ? "" : " or ") + table.column(column)->quoted;
    return list;
  }

  // --- remedies ---

  std::string remedy(const ViewPartition& partition, std::size_t place, const PostgresRelation& table) const {
    const std::string track = "add [[index.track]] table = \"" + table.name + "\"";
    const auto document = links_.documents.begin();
    if (document == links_.documents.end() || links_.documents.size() > 1)
      return track + " with keys that select the _id of every document";
    const PostgresRelation root = describe_relation(transaction_, links_.tables[document->first]);
    const std::string every = "select " + root.column(document->second)->quoted + " from " + root.name;
    const std::string all = track + " keys = \"" + every + "\", which is every document";
    if (is_expressed(partition, place))
      return all + ", or with row = \"…\", the expression that its rows have in common, and keys from there";
    if (partition.everywhere.contains(place)) return all;
    const std::size_t anchor = *anchor_of(partition, links_);
    if (anchor != place || place != document->first)
      return all + ", or with row and keys that lead from it to all rows with the same " +
             names(partition.anchors.at(anchor), describe_relation(transaction_, links_.tables[anchor]));
    const Columns nullable = nullable_columns(partition, place, table);
    std::string present;
    for (const int column : partition.anchors.at(place)) {
      if (!nullable.contains(column)) present = table.column(column)->quoted;
    }
    // A part of their common columns leads to more rows, never to fewer.
    const std::string column =
        present.empty() ? table.column(*partition.anchors.at(place).begin())->quoted : present;
    std::string text =
        track + " row = \"" + column + "\" keys = \"" + every + " where " + column + " = any($1)\"";
    if (present.empty())
      text += ", and one more, row = \"case when " + column + " is null then 1 end\" keys = \"" + every +
              " where " + column + " is null\"";
    return text + "; an index on (" + column + ") serves it";
  }

  PostgresTransaction& transaction_;
  const IndexConfig& config_;
  const std::string& view_;
  const ViewLinks& links_;
  std::vector<Track> tracks_;
  std::set<std::pair<std::string, std::string>> known_;
  std::vector<UntrackedPartition> found_;
};

}  // namespace

std::vector<UntrackedPartition> find_untracked_partitions(PostgresTransaction& transaction,
                                                          const IndexConfig& config, const std::string& view,
                                                          const ViewLinks& links) {
  return Search(transaction, config, view, links).find();
}

}  // namespace lockstep
