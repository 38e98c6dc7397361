#include "replicator/draft/tracks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "replicator/source/view/view_paths.h"

namespace lockstep {
namespace {

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

class Drafter {
 public:
  Drafter(const TableGraph& tables, const ViewGraph& view, const SqlDialect& dialect)
      : tables_(tables), view_(view), dialect_(dialect) {
    const auto is_unknown = [&](std::size_t place) { return !tables.contains(view.places[place].table); };
    std::erase_if(view_.links,
                  [&](const auto& link) { return is_unknown(link.place) || is_unknown(link.other); });
    std::erase_if(view_.documents, [&](const auto& document) { return is_unknown(document.first); });
  }

  DraftTracks draft(const std::set<std::string>& reads) {
    for (const auto& [place, column] : view_.documents) add_documents(view_.places[place].table, column);
    for (const std::string& name : reads) add_table(name);
    return std::move(drafted_);
  }

 private:
  const GraphTable& table(const std::string& name) const { return tables_.at(name); }

  // Whose rows give the _id.
  void add_documents(const std::string& name, const std::string& column) {
    const bool is_key = table(name).key == ColumnNames{column};
    add_query({name, is_key ? "" : column, {}, {}}, "", "", drafted_.tracks);
    need_index(name, {column});
  }

  // No path leads to more than that; only deleted documents are found by their own row.
  void add_every_document(const std::string& name, const std::string& why) {
    add_query({name, "", {}, {}}, every_document(), name + " → every document: " + why, drafted_.tracks);
  }

  std::string every_document() const {
    std::vector<std::string> queries;
    for (const auto& [place, column] : view_.documents) {
      const GraphTable& root = table(view_.places[place].table);
      add_once(queries, "select " + as_value("t1", root.column(column)) + "\nfrom " + root.name + " as t1");
    }
    return joined(queries, "\nunion\n");
  }

  void add_table(const std::string& name) {
    if (!tables_.contains(name)) {
      drafted_.unknown.push_back(
          {name, name + " belongs to the database itself, so its changes cannot be captured"});
      return;
    }
    const std::string all = every_document();
    if (all.empty()) {
      drafted_.unknown.push_back({name, "what leads from " + name +
                                            " to an _id, since the view does not show which table's row "
                                            "gives it (it has several columns, or is an expression)"});
      return;
    }
    const auto clause = view_.everywhere.find(name);
    if (clause != view_.everywhere.end()) return add_every_document(name, clause->second);
    PathsOfPlace of_table;
    bool is_there = false;
    for (std::size_t place = 0; place < view_.places.size(); ++place) {
      if (view_.places[place].table != name) continue;
      is_there = true;
      PathsOfPlace found = paths_from(view_, place);
      of_table.is_reached = of_table.is_reached && found.is_reached;
      of_table.are_too_many = of_table.are_too_many || found.are_too_many;
      std::move(found.paths.begin(), found.paths.end(), std::back_inserter(of_table.paths));
    }
    if (of_table.are_too_many)
      return add_every_document(name, "more than " + std::to_string(kMaxPaths) + " ways lead there");
    // Where one of its places is not reached, tracks for the others would look as if they were all.
    const bool is_known = is_there && of_table.is_reached;
    std::vector<DraftTrack> known;
    for (const ViewPath& path : of_table.paths) {
      if (!path.steps.empty()) add_path(path, is_known ? drafted_.tracks : known);
    }
    if (is_known) return;
    drafted_.unknown.push_back({name,
                                "the view reads " + name +
                                    " in a place from which no equality of columns leads to " +
                                    view_.places[view_.documents.begin()->first].table,
                                std::move(known), all});
  }

  void add_path(const ViewPath& path, std::vector<DraftTrack>& tracks) {
    for (const ViewStep& step : path.steps) {
      need_index(step.to, with_nulls(step.to_columns, step));
      need_index(step.from, with_nulls(step.from_columns, step));
    }
    const ViewStep& first = path.steps.front();
    const std::string row = row_of(first);
    const std::string query = query_of(path);
    std::string words = first.from;
    for (const ViewStep& step : path.steps) words += " → " + step.to;
    add_query({first.from, row, {}, {}}, query, words, tracks);
  }

  // Values that are the ids need no query; the others of one table that begin alike share a track.
  static void add_query(DraftTrack wanted, const std::string& query, const std::string& words,
                        std::vector<DraftTrack>& tracks) {
    const auto is_same = [&](const DraftTrack& track) {
      return track.table == wanted.table && track.row == wanted.row && track.queries.empty() == query.empty();
    };
    auto track = std::find_if(tracks.begin(), tracks.end(), is_same);
    const bool is_new = track == tracks.end();
    if (is_new) track = tracks.insert(track, std::move(wanted));
    if (!query.empty()) add_once(track->queries, query);
    const bool is_of_documents = !is_new && query.empty() && track->paths.empty();
    if (!words.empty() && !is_of_documents) add_once(track->paths, words);
  }

  static void add_once(std::vector<std::string>& texts, const std::string& text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }

  static ColumnNames with_nulls(ColumnNames columns, const ViewStep& step) {
    columns.insert(columns.end(), step.nulls.begin(), step.nulls.end());
    return columns;
  }

  std::string row_of(const ViewStep& first) const {
    const GraphTable& changed = table(first.from);
    if (first.from_columns == changed.key && first.nulls.empty()) return "";
    std::string row = first.from_columns.size() == 1 ? first.from_columns.front()
                                                     : dialect_.several_columns(first.from_columns);
    if (first.nulls.empty()) return row;
    // Of other rows nothing is noted.
    if (first.from_columns.empty()) row = "1";
    return "case when " + joined(null_in("", first), " and ") + " then " + row + " end";
  }

  static std::vector<std::string> null_in(const std::string& alias, const ViewStep& step) {
    std::vector<std::string> conditions;
    for (const std::string& column : step.nulls)
      conditions.push_back((alias.empty() ? "" : alias + ".") + column + " is null");
    return conditions;
  }

  // From $1, the values of the path's first columns, to the _ids. Empty: they are the _ids.
  std::string query_of(const ViewPath& path) const {
    const std::vector<ViewStep>& steps = path.steps;
    // What the last step compares with the _id is the _id: no need to look it up.
    const bool ends_before_root = steps.back().to_columns == ColumnNames{path.id_column};
    const std::size_t tables = steps.size() - (ends_before_root ? 1 : 0);
    if (tables == 0) return "";
    const std::string last = "t" + std::to_string(tables);
    std::string from, where;
    for (std::size_t i = 0; i < tables; ++i) {
      const ViewStep& step = steps[i];
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
                                    ? table(steps.back().from).column(steps.back().from_columns.front())
                                    : table(path.table).column(path.id_column);
    return "select " + as_value(last, column) + "\nfrom " + from + where;
  }

  std::string compared(const std::string& name, const std::string& column) const {
    return column + " " + table(name).column(column).equality;
  }

  std::string by_columns(const ViewStep& step, const std::string& alias, const std::string& before) const {
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

  std::string by_value(const ViewStep& step) const {
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

  const TableGraph& tables_;
  ViewGraph view_;  // without what is not in `tables`
  const SqlDialect& dialect_;
  DraftTracks drafted_;
};

}  // namespace

DraftTracks draft_tracks(const TableGraph& tables, const ViewGraph& view, const std::set<std::string>& reads,
                         const SqlDialect& dialect) {
  return Drafter(tables, view, dialect).draft(reads);
}

}  // namespace lockstep
