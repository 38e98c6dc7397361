#include "replicator/source/postgres/define/partition_tracks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace lockstep {
namespace {

class Search {
 public:
  Search(PostgresTransaction& transaction, const IndexConfig& config, const std::string& view,
         const ViewLinks& links)
      : transaction_(transaction), config_(config), view_(view), links_(links) {}

  std::vector<UntrackedPartition> find() {
    std::set<std::pair<std::string, std::string>> known;  // tables and clauses
    for (const ViewPartition& partition : partitions_over_documents(links_)) {
      for (const std::size_t place : partition.deciding) {
        const PostgresRelation table = describe_relation(transaction_, links_.tables[place]);
        if (table.is_table() && known.emplace(table.name, partition.clause).second)
          look_at(partition, place, table);
      }
    }
    return std::move(found_);
  }

 private:
  void look_at(const ViewPartition& partition, std::size_t place, const PostgresRelation& table) {
    const std::set<std::string> shared = shared_by(partition, place, table);
    int line = 0;
    bool by_other_column = false;
    for (const TrackConfig& track : config_.tracks) {
      if (track.table != table.name) continue;
      if (track.ignore || !track.keys.empty()) return;
      const std::optional<std::string> column = column_of(track, table);
      if (!column || shared.contains(*column)) return;
      line = track.line;
      by_other_column = by_other_column || !track.row.empty();
    }
    if (line == 0) return;  // it is untracked, or covered by a track of a table that it is a part of
    found_.push_back({!by_other_column, line,
                      "view " + view_ + " has " + partition.clause + " over rows of " + table.name +
                          ": a changed row changes the documents of other rows, to which no track of " +
                          table.name + " leads",
                      remedy(partition, table)});
  }

  // What the track takes of a row, if it is one column.
  static std::optional<std::string> column_of(const TrackConfig& track, const PostgresRelation& table) {
    if (track.row.empty()) {
      const std::vector<const PostgresColumn*> key = table.primary_key();
      return key.size() == 1 ? key.front()->quoted : std::string();
    }
    for (const PostgresColumn& column : table.columns) {
      if (track.row == column.quoted || track.row == column.name) return column.quoted;
    }
    return std::nullopt;
  }

  std::set<std::string> shared_by(const ViewPartition& partition, std::size_t place,
                                  const PostgresRelation& table) const {
    std::set<std::string> names;
    for (const auto& [at, column] : shared_columns(partition, links_)) {
      if (at == place) names.insert(table.column(column)->quoted);
    }
    return names;
  }

  std::string remedy(const ViewPartition& partition, const PostgresRelation& table) const {
    const std::string track = "add [[index.track]] table = \"" + table.name + "\"";
    const auto peers = columns_of_peers(partition, links_);
    if (peers.empty() && partition.by_expression)
      return track +
             " with row = \"…\", the expression that its rows have in common, and keys from there to _ids";
    const auto document = links_.documents.begin();
    if (document == links_.documents.end() || links_.documents.size() > 1)
      return track + " with keys that select the _id of each of these documents";
    const PostgresRelation root = describe_relation(transaction_, links_.tables[document->first]);
    const std::string every = "select " + root.column(document->second)->quoted + " from " + root.name;
    if (peers.empty()) return track + " keys = \"" + every + "\", which is every document";
    const auto& [place, columns] = peers.front();
    if (place != document->first || root.name != table.name || columns.size() > 1)
      return track + " with row, what its rows have in common, and keys from there to the _ids";
    const std::string column = root.column(*columns.begin())->quoted;
    return track + " row = \"" + column + "\" keys = \"" + every + " where " + column + " = any($1)\"";
  }

  PostgresTransaction& transaction_;
  const IndexConfig& config_;
  const std::string& view_;
  const ViewLinks& links_;
  std::vector<UntrackedPartition> found_;
};

}  // namespace

std::vector<UntrackedPartition> find_untracked_partitions(PostgresTransaction& transaction,
                                                          const IndexConfig& config, const std::string& view,
                                                          const ViewLinks& links) {
  return Search(transaction, config, view, links).find();
}

}  // namespace lockstep
