#include "replicator/source/sqlite/define/design.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "replicator/listed.h"
#include "replicator/nearest_name.h"
#include "replicator/source/define/view_file.h"
#include "replicator/source/index_definition.h"
#include "replicator/source/sqlite/catalog/column_origin.h"
#include "replicator/source/sqlite/catalog/compared_rows.h"
#include "replicator/source/sqlite/catalog/sql_tokens.h"
#include "replicator/source/sqlite/catalog/table.h"
#include "replicator/source/sqlite/catalog/view_links.h"
#include "replicator/source/sqlite/catalog/view_shape.h"
#include "replicator/source/sqlite/define/dialect.h"
#include "replicator/source/sqlite/define/resolver.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/view/view_paths.h"

namespace lockstep {
namespace {

constexpr const char* kOnlyItsOwn =
    "lockstep reads with a SQLite of its own, which has no function and no collation that the application "
    "registers: write the view without them";

// The remedy for a complaint of SQLite. It has no code for these two alone, only their words.
std::string remedy_for(const std::string& complaint) {
  for (const char* const lacking : {"no such function", "no such collation sequence"}) {
    if (complaint.find(lacking) != std::string::npos) return kOnlyItsOwn;
  }
  return "fix the view";
}

std::string column_names(const SqliteTable& table) {
  std::string text;
  for (const SqliteTableColumn& column : table.columns) text += (text.empty() ? "" : ", ") + column.name;
  return text;
}

class Designer {
 public:
  Designer(SqliteConnection& connection, const Config& config) : connection_(connection), config_(config) {}

  SqlitePipelineDesign design(const std::vector<IndexConfig>& indices) {
    if (config_.replication.max_outbox_size > 0)
      design_.max_outbox_size = config_.replication.max_outbox_size;
    for (const IndexConfig& index : indices) {
      const std::size_t first = design_.findings.size();
      add_index(index);
      attribute_findings(config_, index, first, design_.findings);
    }
    return std::move(design_);
  }

 private:
  // --- findings ---

  std::string place(int line) const { return place_in(config_, line); }
  void fault(int line, std::string message, std::string remedy = {}) {
    design_.findings.push_back(
        {Finding::Severity::kError, place(line), std::move(message), std::move(remedy)});
  }
  void warn(int line, std::string message, std::string remedy = {}) {
    design_.findings.push_back(
        {Finding::Severity::kWarning, place(line), std::move(message), std::move(remedy)});
  }

  // A name of PostgreSQL's form, or a mistyped one, has its own.
  std::string remedy_for_missing(const std::string& name, const std::set<std::string>& kinds,
                                 const std::string& otherwise) {
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos && find_table(connection_, name.substr(dot + 1)))
      return "SQLite's names have no schema here: write \"" + name.substr(dot + 1) + "\"";
    std::vector<std::string> names;
    SqliteStatement tables(connection_, "looking for tables and views",
                           "select name, type from pragma_table_list where schema = 'main'");
    while (tables.step()) {
      if (kinds.contains(std::string(tables[1].text()))) names.emplace_back(tables[0].text());
    }
    const auto nearest = nearest_name(name, {names.begin(), names.end()});
    return nearest ? "did you mean \"" + std::string(*nearest) + "\"?" : otherwise;
  }

  // --- indices ---

  void add_index(const IndexConfig& config) {
    const std::optional<SqliteTable> view = find_table(connection_, config.view);
    if (!view) {
      const std::string create = remedy_of_view_file(config_, config, SqliteDialect());
      return fault(config.line, "there is no view " + config.view,
                   create.empty()
                       ? remedy_for_missing(config.view, {"view"}, "create it, with a column named _id")
                       : create);
    }
    if (view->kind != SqliteTable::Kind::kView) {
      return fault(config.line, view->name + " is a " + std::string(kind_name(view->kind)) + ", not a view",
                   "create a view over it that names one of its columns _id");
    }
    if (!view->complaint.empty())
      return fault(config.line, "view " + view->name + " cannot be read: " + view->complaint,
                   remedy_for(view->complaint));
    std::optional<SqliteViewReads> known;
    try {
      known = read_view(connection_, view->name);
    } catch (const SqliteError& error) {
      // SQLite looks for a collation only when it compiles a query.
      if (error.retryable()) throw;
      return fault(config.line, "view " + view->name + " cannot be read: " + error.parts().cause,
                   remedy_for(error.parts().cause));
    }
    const SqliteViewReads& reads = *known;
    SqliteIndexDesign index;
    index.alias = config.alias;
    index.line = place(config.line);
    index.json_fields = config.json_columns;
    index.configured = definition_text(config);
    if (!describe_documents(config, *view, index)) return;
    index.parts = read_view_parts(connection_, reads);
    warn_of_reads(config, *view, reads);
    std::set<std::string> covered;
    for (const TrackConfig& track : config.tracks) add_track(track, *view, reads, index, covered);
    find_untracked(config, *view, reads, covered);
    warn_of_compared_rows(config, *view, reads);
    warn_of_unreached(config, *view);
    design_.indices.push_back(std::move(index));
  }

  bool describe_documents(const IndexConfig& config, const SqliteTable& view, SqliteIndexDesign& index) {
    if (view.column("_id") == nullptr) {
      fault(config.line, "view " + view.name + " has no column _id",
            "name the column that identifies its documents: select … as _id");
      return false;
    }
    static_cast<DocumentShape&>(index) = shape_of(view, {"", id_type_of(connection_, view.name), false, {}});
    for (const std::string& field : config.json_columns) {
      if (std::find(index.fields.begin(), index.fields.end(), field) != index.fields.end()) continue;
      fault(config.line, "json: view " + view.name + " has no field " + field,
            "it has " + column_names(view));
      return false;
    }
    keep_fields(config, index.fields);
    std::erase_if(index.json_fields, [&](const std::string& field) {
      return std::find(index.fields.begin(), index.fields.end(), field) == index.fields.end();
    });
    return true;
  }

  void warn_of_reads(const IndexConfig& config, const SqliteTable& view, const SqliteViewReads& reads) {
    if (!reads.environment.empty()) {
      warn(config.line, "view " + view.name + " calls " + listed(reads.environment) +
                            "; if that depends on the clock or on chance, documents are not written again "
                            "when it changes");
    }
    for (const auto& [name, read] : reads.tables) {
      const std::optional<SqliteTable> table = find_table(connection_, name);
      if (!table) continue;
      if (table->kind != SqliteTable::Kind::kTable) {
        warn(config.line,
             "view " + view.name + " reads " + name + ", a " + std::string(kind_name(table->kind)) +
                 ", which can have no triggers: changes of it alone are not noticed",
             "track the table that it is filled from");
      } else if (read.by_row_number) {
        warn(config.line,
             "view " + view.name + " reads rowid of table " + name + ", and VACUUM gives rows other numbers",
             "give the table an integer primary key");
      }
    }
  }

  void find_untracked(const IndexConfig& config, const SqliteTable& view, const SqliteViewReads& reads,
                      const std::set<std::string>& covered) {
    for (const auto& [name, read] : reads.tables) {
      const std::optional<SqliteTable> table = find_table(connection_, name);
      if (!table || table->kind != SqliteTable::Kind::kTable || covered.contains(name)) continue;
      fault(config.line, "view " + view.name + " reads table " + name + ", which no track covers",
            "add [[index.track]] table = \"" + name +
                "\" with what leads from its rows to documents, or with ignore = true if changes of it don't "
                "matter");
    }
  }

  // Nothing but a column in common, or every document, is known to be enough.
  void warn_of_compared_rows(const IndexConfig& config, const SqliteTable& view,
                             const SqliteViewReads& reads) {
    for (const SqliteComparedRows& compared : compared_rows(connection_, reads.views)) {
      std::set<std::string> tables;
      for (const std::string& table : compared.tables) {
        const bool is_followed = std::all_of(compared.by.begin(), compared.by.end(), [&](const auto& by) {
          return is_followed_to_all(config, table, by);
        });
        if (!is_followed) tables.insert(table);
      }
      if (tables.empty()) continue;
      warn(
          config.line,
          "view " + view.name + " has " + listed(compared.clauses) +
              ": if it compares rows of several documents, a changed row of " + listed(tables) +
              " changes those of the others",
          "add a track with row, what these rows have in common, and keys from there to all of their _ids (a "
          "null is a value there, too), or with keys that select every _id: select … where $1 is not null");
    }
  }

  bool is_followed_to_all(const IndexConfig& config, const std::string& name,
                          const std::set<std::string>& by) {
    const std::optional<SqliteTable> table = find_table(connection_, name);
    if (!table || table->kind != SqliteTable::Kind::kTable) return true;  // reported without this
    bool has_values = false;
    bool has_null = false;
    for (const TrackConfig& track : config.tracks) {
      const std::optional<SqliteTable> tracked = find_table(connection_, track.table);
      if (!tracked || tracked->name != table->name) continue;
      if (track.ignore) return true;
      const bool takes_null = mentions(track.row, {"null", "isnull", "coalesce", "ifnull"});
      if (!track.keys.empty() && !mentions(track.keys, {"json_each"}) && !takes_null) return true;
      if (takes_null) has_null = true;
      const std::vector<const SqliteTableColumn*> key = table->primary_key();
      const SqliteTableColumn* const column =
          track.row.empty() && key.size() == 1 ? key.front() : table->column(track.row);
      const bool is_common = column != nullptr && std::any_of(by.begin(), by.end(), [&](const auto& other) {
                               return is_same_name(other, column->name);
                             });
      if (!is_common) continue;
      has_values = true;
      // Without keys the rows are of the document with that _id.
      if (column->not_null || column->key_position >= 0 || track.keys.empty()) has_null = true;
    }
    return has_values && has_null;
  }

  static bool mentions(const std::string& sql, std::initializer_list<std::string_view> words) {
    SqlTokens tokens(sql);
    for (std::optional<SqlToken> token = tokens.next(); token; token = tokens.next()) {
      if (std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token->is(word); }))
        return true;
    }
    return false;
  }

  // A track that leads to the document of its own row is not enough for a table that is read once more.
  void warn_of_unreached(const IndexConfig& config, const SqliteTable& view) {
    if (!column_origin(connection_, view.name, "_id")) return;
    for (const std::string& name : unreached_tables(read_view_links(connection_, view.name).graph)) {
      std::optional<int> line;
      bool leads_elsewhere = false;
      for (const TrackConfig& track : config.tracks) {
        const std::optional<SqliteTable> tracked = find_table(connection_, track.table);
        if (!tracked || plain_or_quoted(tracked->name) != name) continue;
        line = track.line;
        leads_elsewhere = leads_elsewhere || track.ignore || !track.row.empty() || !track.column.empty() ||
                          !track.keys.empty();
      }
      if (!line || leads_elsewhere) continue;
      warn(*line,
           "view " + view.name + " reads " + name +
               " in a place from which no equality leads to the documents, and its only track leads to the "
               "document of a row's own key: a change of it may miss documents",
           "add a track of " + name +
               " with keys that select these _ids, or every _id: select … where $1 is not null");
    }
  }

  // --- tracks ---

  void add_track(const TrackConfig& config, const SqliteTable& view, const SqliteViewReads& reads,
                 SqliteIndexDesign& index, std::set<std::string>& covered) {
    const std::optional<SqliteTable> table = find_table(connection_, config.table);
    if (!table) {
      return fault(config.line, "there is no table " + config.table,
                   remedy_for_missing(config.table, {"table", "virtual"}, "create it, or remove the track"));
    }
    covered.insert(table->name);
    if (config.ignore) return;
    if (table->kind != SqliteTable::Kind::kTable) {
      return fault(
          config.line,
          table->name + " is a " + std::string(kind_name(table->kind)) + "; only tables can be tracked",
          table->kind == SqliteTable::Kind::kView ? "track the tables that it reads"
                                                  : "track the table that it is filled from, and set "
                                                    "ignore = true here");
    }
    if (table->name.starts_with(connection_.schema() + "_") || table->name.starts_with("sqlite_"))
      return fault(config.line, table->name + " is not one of the application's tables", "set ignore = true");
    if (is_same_name(table->name, "new") || is_same_name(table->name, "old"))
      return fault(config.line, "a trigger cannot read a table of the name " + table->name, "rename it");
    std::optional<SqliteTableCapture> capture = describe_capture(config, *table);
    if (!capture || !find_id_of_key(config, *table, *capture)) return;
    if (!find_blobs(config, *table, *capture)) return;
    SqliteTrackDesign track;
    track.table = table->name;
    track.line = place(config.line);
    const SqliteResolver resolver = make_resolver(connection_, view, config);
    if (!resolver.fault.empty()) return fault(config.line, resolver.fault, resolver.remedy);
    if (!resolver.warning.empty()) warn(config.line, resolver.warning, resolver.remedy);
    track.resolver = resolver.query;
    track.capture = add_capture(*std::move(capture), view);
    index.tracks.push_back(std::move(track));
    if (!reads.tables.contains(table->name)) {
      warn(config.line,
           "view " + view.name + " does not read table " + table->name +
               "; every update of it counts as a change",
           "remove the track if it is a mistake");
    }
  }

  // False: the key of the table has several columns, and no rule gives their _id.
  bool find_id_of_key(const TrackConfig& config, const SqliteTable& table,
                      const SqliteTableCapture& capture) {
    if (capture.value.size() == 1 || !config.row.empty() || !config.column.empty() || !config.keys.empty())
      return true;
    std::string columns;
    for (const std::string& name : capture.value)
      columns += (columns.empty() ? "" : ", ") + table.column(name)->quoted;
    fault(config.line, "the primary key of table " + table.name + " has several columns, which are no _id",
          "give the _id of the view that they make: row = 'json_array(" + columns + ")' if that is its _id");
    return false;
  }

  // JSON has no blobs, so a query gets hexadecimal digits, which are equal to no blob. False: it would find
  // nothing.
  bool find_blobs(const TrackConfig& config, const SqliteTable& table, const SqliteTableCapture& capture) {
    if (config.column.empty() && config.keys.empty()) return true;
    for (const std::string& name : capture.value) {
      SqliteStatement found(connection_, "looking for blobs",
                            "select 1 from (select typeof(" + quote_sqlite_name(name) + ") as type from " +
                                table.quoted + " limit 1000) where type = 'blob'");
      if (!found.step()) continue;
      const std::string blobs =
          "column " + name + " of table " + table.name + " holds blobs, which come as hexadecimal digits";
      const std::string remedy =
          "compare with lower(hex(…)) in keys = \"select … in (select value from json_each($1))\", and "
          "create an index "
          "on that expression";
      if (config.column.empty()) {
        warn(config.line, blobs, remedy);
        continue;
      }
      fault(config.line, blobs + ": no row of the view would be found by them", remedy);
      return false;
    }
    return true;
  }

  std::size_t add_capture(SqliteTableCapture capture, const SqliteTable& view) {
    const auto known = std::find_if(design_.captures.begin(), design_.captures.end(), [&](const auto& other) {
      return other.identity() == capture.identity();
    });
    if (known != design_.captures.end()) {
      known->views.insert(view.name);
      return static_cast<std::size_t>(known - design_.captures.begin());
    }
    capture.views.insert(view.name);
    design_.captures.push_back(std::move(capture));
    return design_.captures.size() - 1;
  }

  std::optional<SqliteTableCapture> describe_capture(const TrackConfig& config, const SqliteTable& table) {
    SqliteTableCapture capture;
    capture.relation = table.name;
    if (!config.columns.empty()) {
      std::set<std::string> columns;
      for (const std::string& name : config.columns) {
        const SqliteTableColumn* const column = table.column(name);
        if (column == nullptr) {
          fault(config.line, "columns: table " + table.name + " has no column " + name,
                "it has " + column_names(table));
          return std::nullopt;
        }
        columns.insert(column->name);
      }
      capture.columns.emplace(columns.begin(), columns.end());
    }
    const bool described =
        config.row.empty() ? describe_key(config, table, capture) : describe_row(config, table, capture);
    return described ? std::optional(std::move(capture)) : std::nullopt;
  }

  bool describe_key(const TrackConfig& config, const SqliteTable& table, SqliteTableCapture& capture) {
    for (const SqliteTableColumn* column : table.primary_key()) capture.value.push_back(column->name);
    if (capture.value.empty()) {
      fault(
          config.line, "table " + table.name + " has no primary key",
          "give it one (VACUUM gives rows other rowids), or give row = \"…\": the column or expression that "
          "leads to its documents");
      return false;
    }
    return true;
  }

  bool describe_row(const TrackConfig& config, const SqliteTable& table, SqliteTableCapture& capture) {
    if (const SqliteTableColumn* const column = table.column(config.row)) {
      capture.value = {column->name};
      return true;
    }
    RowExpression expression = describe_expression(connection_, table, config.row);
    if (!expression.fault.empty()) {
      fault(config.line, expression.fault, "the table has " + column_names(table));
      return false;
    }
    capture.value = std::move(expression.columns);
    capture.query = std::move(expression.query);
    return true;
  }

  SqliteConnection& connection_;
  const Config& config_;
  SqlitePipelineDesign design_;
};

}  // namespace

SqlitePipelineDesign design_pipeline(SqliteConnection& connection, const Config& config,
                                     const std::vector<IndexConfig>& indices) {
  return Designer(connection, config).design(indices);
}

}  // namespace lockstep
