#include "replicator/draft/tracks.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace lockstep {
namespace {

// A join, read from one of its sides.
struct Step {
  std::string from;
  ColumnNames from_columns;
  std::string to;
  ColumnNames to_columns;
  bool is_partition;
  ColumnNames nulls;

  bool operator==(const Step&) const = default;
};

using Path = std::vector<Step>;

std::set<std::pair<std::string, std::string>> pairs_of(const Join& join) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < join.columns.size(); ++i) pairs.emplace(join.columns[i], join.other_columns[i]);
  return pairs;
}

Join reversed(const Join& join) {
  return {join.other, join.other_columns, join.table, join.columns, join.is_partition, join.nulls};
}

// Whether `wide` asks for everything that `narrow` does, and so follows from the same condition.
bool includes(const Join& wide, const Join& narrow) {
  for (const Join& other : {narrow, reversed(narrow)}) {
    if (wide.table != other.table || wide.other != other.other) continue;
    const auto all = pairs_of(wide);
    const auto some = pairs_of(other);
    if (other.is_partition != wide.is_partition) continue;
    if (other.nulls != wide.nulls && !other.nulls.empty()) continue;
    if (std::includes(all.begin(), all.end(), some.begin(), some.end())) return true;
  }
  return false;
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

class Drafter {
 public:
  Drafter(const TableGraph& graph, const DocumentJoins& documents, const SqlDialect& dialect)
      : graph_(graph), documents_(documents), dialect_(dialect) {
    for (const Join& join : documents.joins) {
      add_step({join.table, join.columns, join.other, join.other_columns, join.is_partition, join.nulls});
      add_step({join.other, join.other_columns, join.table, join.columns, join.is_partition, join.nulls});
    }
  }

  DraftTracks draft() {
    if (!graph_.contains(documents_.root)) return without_root();
    add_root();
    for (const auto& [table, times] : documents_.reads) add_table(table);
    return std::move(drafted_);
  }

 private:
  const GraphTable& table(const std::string& name) const { return graph_.at(name); }

  void add_step(Step step) {
    if (!graph_.contains(step.from) || !graph_.contains(step.to)) return;
    std::vector<Step>& steps = steps_[step.from];
    if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(std::move(step));
  }

  // It is unknown where paths should end.
  DraftTracks without_root() const {
    DraftTracks drafted;
    for (const auto& [name, times] : documents_.reads) {
      drafted.unknown.push_back(
          {name,
           "what leads from " + name +
               " to an _id, since the view does not show which table's row gives it (it "
               "has several columns, or comes from a union or an expression)",
           {}});
    }
    return drafted;
  }

  void add_root() {
    const bool is_key = table(documents_.root).key == ColumnNames{documents_.root_column};
    drafted_.tracks.push_back({documents_.root, is_key ? "" : documents_.root_column, {}, {}});
    need_index(documents_.root, {documents_.root_column});
  }

  // No path leads to more than that; only deleted documents are found by their own row.
  void add_every_document(const std::string& name, const std::string& why) {
    const GraphTable& root = table(documents_.root);
    add_query(
        {name, "", {}, {}},
        "select " + as_value("t1", root.column(documents_.root_column)) + "\nfrom " + root.name + " as t1",
        name + " → every document: " + why, drafted_.tracks);
  }

  void add_table(const std::string& name) {
    if (!graph_.contains(name)) {
      drafted_.unknown.push_back(
          {name, name + " belongs to the database itself, so its changes cannot be captured", {}});
      return;
    }
    const auto clause = documents_.everywhere.find(name);
    if (clause != documents_.everywhere.end()) return add_every_document(name, clause->second);
    const std::optional<std::vector<Path>> paths = paths_from(name);
    if (const auto compared = documents_.compared.find(name); !paths && compared != documents_.compared.end())
      return add_every_document(
          name, compared->second + ", and more than " + std::to_string(kMaxPaths) + " paths of keys");
    if (!paths) {
      drafted_.unknown.push_back({name,
                                  "more than " + std::to_string(kMaxPaths) + " paths of keys lead from " +
                                      name + " to " + documents_.root,
                                  {}});
      return;
    }
    // If one of its places is not reached, tracks for the others would look as if they were all.
    if (documents_.unreached.contains(name) || (paths->empty() && name != documents_.root)) {
      UnknownTrack unknown{
          name,
          paths->empty()
              ? "no foreign key and no equality leads from " + name + " to " + documents_.root
              : "the view reads " + name + " in a place from which no equality leads to " + documents_.root,
          {}};
      for (const Path& path : *paths) add_path(path, unknown.known);
      drafted_.unknown.push_back(std::move(unknown));
      return;
    }
    for (const Path& path : *paths) add_path(path, drafted_.tracks);
  }

  // Shortest first; those that continue through the root, if it is read twice, too. None: there are too many.
  std::optional<std::vector<Path>> paths_from(const std::string& name) const {
    constexpr std::size_t kMaxBegun = 20'000;
    std::vector<Path> found;
    std::deque<Path> begun{{}};
    std::size_t taken = 0;
    while (!begun.empty()) {
      if (++taken > kMaxBegun) return std::nullopt;
      const Path path = std::move(begun.front());
      begun.pop_front();
      const auto steps = steps_.find(path.empty() ? name : path.back().to);
      if (steps == steps_.end()) continue;
      for (const Step& step : steps->second) {
        if (!may_take(name, path, step)) continue;
        Path longer = path;
        longer.push_back(step);
        if (step.to == documents_.root) {
          found.push_back(longer);
          if (found.size() > kMaxPaths) return std::nullopt;
        }
        begun.push_back(std::move(longer));
      }
    }
    return found;
  }

  // On either side of a partition a path comes to a table as often as without one.
  bool may_take(const std::string& first, const Path& path, const Step& step) const {
    const auto partition =
        std::find_if(path.begin(), path.end(), [](const Step& taken) { return taken.is_partition; });
    if (step.is_partition) return partition == path.end();
    const auto begin = partition == path.end() ? path.begin() : partition;
    const auto visits =
        std::count_if(begin, path.end(), [&](const Step& taken) { return taken.to == step.to; });
    const bool begins_there = partition == path.end() && first == step.to;
    return visits + (begins_there ? 1 : 0) < documents_.reads.at(step.to);
  }

  void add_path(const Path& path, std::vector<DraftTrack>& tracks) {
    for (const Step& step : path) {
      need_index(step.to, with_nulls(step.to_columns, step));
      need_index(step.from, with_nulls(step.from_columns, step));
    }
    const Step& first = path.front();
    const std::string row = row_of(first);
    const std::string query = query_of(path);
    std::string words = first.from;
    for (const Step& step : path) words += " → " + step.to;
    add_query({first.from, row, {}, {}}, query, words, tracks);
  }

  // Values that are the ids need no query; the others of one table that begin alike share a track.
  static void add_query(DraftTrack wanted, const std::string& query, const std::string& words,
                        std::vector<DraftTrack>& tracks) {
    const auto is_same = [&](const DraftTrack& track) {
      return track.table == wanted.table && track.row == wanted.row && track.queries.empty() == query.empty();
    };
    auto track = std::find_if(tracks.begin(), tracks.end(), is_same);
    if (track == tracks.end()) track = tracks.insert(track, std::move(wanted));
    if (!query.empty()) add_once(track->queries, query);
    add_once(track->paths, words);
  }

  static void add_once(std::vector<std::string>& texts, const std::string& text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }

  static ColumnNames with_nulls(ColumnNames columns, const Step& step) {
    columns.insert(columns.end(), step.nulls.begin(), step.nulls.end());
    return columns;
  }

  std::string row_of(const Step& first) const {
    const GraphTable& changed = table(first.from);
    if (first.from_columns == changed.key && first.nulls.empty()) return "";
    std::string row = first.from_columns.size() == 1 ? first.from_columns.front()
                                                     : dialect_.several_columns(first.from_columns);
    if (first.nulls.empty()) return row;
    // Of other rows nothing is noted.
    if (first.from_columns.empty()) row = "1";
    return "case when " + joined(null_in("", first), " and ") + " then " + row + " end";
  }

  static std::vector<std::string> null_in(const std::string& alias, const Step& step) {
    std::vector<std::string> conditions;
    for (const std::string& column : step.nulls)
      conditions.push_back((alias.empty() ? "" : alias + ".") + column + " is null");
    return conditions;
  }

  // From $1, the values of the path's first columns, to the _ids. Empty: they are the _ids.
  std::string query_of(const Path& path) const {
    const ColumnNames id{documents_.root_column};
    // A value that the last step compares with the _id is the _id: no need to look it up.
    const bool ends_before_root = path.back().to_columns == id;
    const std::size_t tables = path.size() - (ends_before_root ? 1 : 0);
    if (tables == 0) return "";
    const std::string last = "t" + std::to_string(tables);
    std::string from, where;
    for (std::size_t i = 0; i < tables; ++i) {
      const Step& step = path[i];
      const std::string alias = "t" + std::to_string(i + 1);
      if (i == 0) {
        const bool several = step.from_columns.size() > 1;
        from = several ? dialect_.values_as_rows() + "\njoin " + step.to + " as t1 on " + by_value(step)
                       : step.to + " as t1";
        std::vector<std::string> conditions = null_in("t1", step);
        if (step.from_columns.size() == 1) {
          const GraphColumn& column = table(step.to).column(step.to_columns[0]);
          conditions.insert(conditions.begin(),
                            dialect_.is_among_values(as_value("t1", column), column.equality));
        }
        if (!conditions.empty()) where = "\nwhere " + joined(conditions, " and ");
      } else {
        from +=
            "\njoin " + step.to + " as " + alias + " on " + by_columns(step, alias, "t" + std::to_string(i));
      }
    }
    const GraphColumn& column = ends_before_root
                                    ? table(path.back().from).column(path.back().from_columns.front())
                                    : table(documents_.root).column(documents_.root_column);
    return "select " + as_value(last, column) + "\nfrom " + from + where;
  }

  std::string compared(const std::string& name, const std::string& column) const {
    return column + " " + table(name).column(column).equality;
  }

  std::string by_columns(const Step& step, const std::string& alias, const std::string& before) const {
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < step.to_columns.size(); ++i)
      conditions.push_back(alias + "." + compared(step.to, step.to_columns[i]) + " " + before + "." +
                           step.from_columns[i]);
    for (const std::string& side : {before, alias}) {
      for (const std::string& condition : null_in(side, step)) conditions.push_back(condition);
    }
    return joined(conditions, " and ");
  }

  std::string as_value(const std::string& alias, const GraphColumn& column) const {
    return dialect_.as_value(alias + "." + column.quoted, column);
  }

  std::string by_value(const Step& step) const {
    std::vector<std::string> conditions;
    for (std::size_t i = 0; i < step.to_columns.size(); ++i) {
      const GraphColumn& column = table(step.to).column(step.to_columns[i]);
      conditions.push_back(as_value("t1", column) + " " + column.equality + " " +
                           dialect_.part_of_value(i, table(step.from).column(step.from_columns[i])));
    }
    return joined(conditions, " and ");
  }

  void need_index(const std::string& name, const ColumnNames& columns) {
    const std::set<std::string> wanted(columns.begin(), columns.end());
    const auto begins_with = [&](const ColumnNames& index) {
      return index.size() >= wanted.size() &&
             std::set<std::string>(index.begin(),
                                   index.begin() + static_cast<std::ptrdiff_t>(wanted.size())) == wanted;
    };
    const auto as_stored = [&](const std::string& column) {
      return dialect_.as_value(column, table(name).column(column)) == column;
    };
    const std::vector<ColumnNames>& indices = table(name).indices;
    if (std::all_of(columns.begin(), columns.end(), as_stored) &&
        std::any_of(indices.begin(), indices.end(), begins_with))
      return;
    for (const DraftIndex& index : drafted_.missing_indices) {
      if (index.table == name && begins_with(index.columns)) return;
    }
    drafted_.missing_indices.push_back({name, columns});
  }

  const TableGraph& graph_;
  const DocumentJoins& documents_;
  const SqlDialect& dialect_;
  std::map<std::string, std::vector<Step>> steps_;  // by their beginnings
  DraftTracks drafted_;
};

}  // namespace

DocumentJoins joins_of_view(const TableGraph& graph, const ViewShape& view) {
  DocumentJoins documents{view.root,      view.root_column, view.reads,   {},
                          view.unreached, view.everywhere,  view.compared};
  for (const auto& [name, times] : view.reads) {
    const auto table = graph.find(name);  // none: of the database itself
    if (table == graph.end()) continue;
    for (const ForeignKey& key : table->second.foreign_keys) {
      if (view.reads.contains(key.table))
        documents.joins.push_back({name, key.columns, key.table, key.references});
    }
  }
  // A join that asks for more than a key leads nowhere else than that; one that asks for less does.
  for (const Join& link : view.links) {
    const auto follows = [&](const Join& key) { return includes(link, key); };
    if (std::none_of(documents.joins.begin(), documents.joins.end(), follows))
      documents.joins.push_back(link);
  }
  const std::vector<Join> whole = documents.joins;
  for (const Join& join : view.joins) {
    const auto follows = [&](const Join& other) { return includes(other, join); };
    if (std::none_of(whole.begin(), whole.end(), follows)) documents.joins.push_back(join);
  }
  return documents;
}

DraftTracks draft_tracks(const TableGraph& graph, const DocumentJoins& documents, const SqlDialect& dialect) {
  return Drafter(graph, documents, dialect).draft();
}

}  // namespace lockstep
