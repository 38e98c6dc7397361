#include "replicator/source/postgres/define/design.h"

#include <algorithm>
#include <utility>

#include "replicator/listed.h"
#include "replicator/source/checksum.h"
#include "replicator/source/define/view_file.h"
#include "replicator/source/index_definition.h"
#include "replicator/source/postgres/catalog/node_tree.h"
#include "replicator/source/postgres/catalog/view_links.h"
#include "replicator/source/postgres/catalog/view_shape.h"
#include "replicator/source/postgres/define/dialect.h"
#include "replicator/source/postgres/define/partition_tracks.h"
#include "replicator/source/postgres/define/resolver.h"
#include "replicator/source/view/view_paths.h"

namespace lockstep {
namespace {

class Designer {
 public:
  Designer(PostgresTransaction& transaction, const Config& config)
      : transaction_(transaction), config_(config) {}

  PipelineDesign design(const std::vector<IndexConfig>& indices) {
    design_.settings = value_settings(transaction_);
    if (config_.replication.max_outbox_size > 0)
      design_.max_outbox_size = config_.replication.max_outbox_size;
    for (const IndexConfig& index : indices) {
      const std::size_t first = design_.findings.size();
      add_index(index);
      attribute_findings(config_, index, first, design_.findings);
    }
    for (auto& [name, table] : design_.tables) add_counted_columns(table);
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

  void deny(int line, std::string message) {
    design_.denied.push_back({Finding::Severity::kError, place(line), std::move(message),
                              "run this as the role that owns the tracked tables", Finding::Cause::kServer});
  }

  // --- indices ---

  void add_index(const IndexConfig& config) {
    std::string why;
    const std::optional<PostgresRelation> view = find_relation(transaction_, config.view, why, Wanted::kView);
    if (!view) {
      const std::string create = remedy_of_view_file(config_, config, PostgresDialect());
      return create.empty() ? fault(config.line, why)
                            : fault(config.line, "there is no view " + config.view, create);
    }
    if (view->kind != 'v') {
      return fault(config.line, view->name + " is a " + std::string(kind_name(view->kind)) + ", not a view",
                   "create a view over it that names one of its columns _id");
    }
    IndexDesign index;
    index.alias = config.alias;
    index.view_oid = view->oid;
    index.line = place(config.line);
    index.configured = definition_text(config);
    if (!describe_documents(config, *view, index)) return;
    index.reads = read_view(transaction_, view->oid);
    index.parts = read_view_parts(transaction_, view->oid, whole_rows(index.reads));
    warn_of_reads(config, index);
    read_links_of(config, index);
    std::set<std::string> covered;
    for (const TrackConfig& track : config.tracks) add_track(track, *view, index, covered);
    find_untracked(config, index, covered);
    find_untracked_paths(config, index);
    design_.indices.push_back(std::move(index));
  }

  bool describe_documents(const IndexConfig& config, const PostgresRelation& view, IndexDesign& index) {
    const PostgresColumn* id = view.column("_id");
    if (id == nullptr) {
      fault(config.line, "view " + view.name + " has no column _id",
            "name the column that identifies its documents: select … as _id");
      return false;
    }
    if (type_family(id->type_oid) == TypeFamily::kOther) {
      fault(config.line,
            "_id of view " + view.name + " is of type " + id->type + ", not integer, uuid or text",
            "cast it in the view: (…)::text as _id");
      return false;
    }
    if (!id->deterministic) {
      fault(config.line, "_id of view " + view.name + " has a collation for which different texts are equal",
            "give it another in the view: (…) collate \"C\" as _id");
      return false;
    }
    static_cast<DocumentShape&>(index) = shape_of(view, {});
    index.id_column = id->number;
    keep_fields(config, index.fields);
    return true;
  }

  static std::set<std::string> whole_rows(const ViewReads& reads) {
    std::set<std::string> names;
    for (const auto& [oid, table] : reads.tables) {
      if (table.every_column) names.insert(table.name);
    }
    return names;
  }

  void warn_of_reads(const IndexConfig& config, const IndexDesign& index) {
    const ViewReads& reads = index.reads;
    const std::string view = "view " + index.view;
    if (!reads.opaque.empty()) {
      warn(config.line,
           view + " calls code that the database cannot see into: " + listed(reads.opaque) +
               "; tables that it reads are not known, and every update of a tracked table counts",
           "write it with an SQL body (begin atomic … end, PostgreSQL 14), and track the tables that it "
           "reads");
    }
    if (!reads.volatile_functions.empty()) {
      warn(config.line,
           view + " calls functions that are declared volatile: " + listed(reads.volatile_functions) +
               "; so PostgreSQL calls them for every document that follows a page, each time that it reads a "
               "page",
           "declare them stable if they change nothing: alter function … stable");
    }
    if (!reads.unordered.empty()) {
      warn(config.line,
           view + " takes rows in no order: " + listed(reads.unordered) +
               "; the same rows may give another value later, which `lockstep verify` reports",
           "write the order into the call: json_agg(… order by …), row_number() over (… order by …)");
    }
    if (!reads.any_rows.empty()) {
      warn(config.line,
           view + " takes some rows of " + listed(reads.any_rows) +
               " by limit, offset or distinct on in no order; the same rows may give others later, which "
               "`lockstep verify` reports",
           "order them by columns that are unique together: order by …, id");
    }
    if (!reads.environment.empty()) {
      warn(config.line, view + " depends on more than rows: " + listed(reads.environment) +
                            "; documents are not written again when that changes");
    }
    if (!reads.row_secured.empty()) {
      warn(config.line,
           "policies decide which rows of " + listed(reads.row_secured) + " " + view +
               " shows; what they depend on is not followed",
           "give the view an owner that may see all rows");
    }
    for (const auto& [oid, table] : reads.tables) {
      if (table.kind == 'm') {
        warn(config.line, view + " reads materialized view " + table.name + ": a refresh is not noticed",
             "read the tables below it");
      } else if (table.kind == 'f') {
        warn(config.line,
             view + " reads foreign table " + table.name + ": changes at its server are not noticed");
      } else if (table.kind == 'S') {
        warn(config.line, view + " reads sequence " + table.name + ": its changes are not noticed");
      } else if (oid < kFirstOwnOid) {
        warn(config.line,
             view + " reads " + table.name + " of the system's catalog: its changes are not noticed");
      }
    }
  }

  void find_untracked(const IndexConfig& config, const IndexDesign& index,
                      const std::set<std::string>& covered) {
    for (const auto& [oid, table] : index.reads.tables) {
      if (oid < kFirstOwnOid || (table.kind != 'r' && table.kind != 'p')) continue;
      if (covered.contains(table.name)) continue;
      fault(config.line, "view " + index.view + " reads table " + table.name + ", which no track covers",
            "add [[index.track]] table = \"" + table.name +
                "\" with what leads from its rows to documents, or with ignore = true if changes of it don't "
                "matter");
    }
  }

  // How a view comes to the rows of a table: by which of its columns, and the columns equal to them. Two
  // places of the table with one of these in common are one path.
  struct JoinPath {
    std::set<std::pair<int, std::string>> columns;
    std::set<std::string> names;
  };

  static void add_path(std::vector<JoinPath>& paths, JoinPath path) {
    const auto is_same = [&](const JoinPath& other) {
      return std::any_of(other.columns.begin(), other.columns.end(),
                         [&](const auto& column) { return path.columns.contains(column); });
    };
    for (auto other = std::find_if(paths.begin(), paths.end(), is_same); other != paths.end();
         other = std::find_if(paths.begin(), paths.end(), is_same)) {
      path.columns.merge(other->columns);
      path.names.merge(other->names);
      paths.erase(other);
    }
    paths.push_back(std::move(path));
  }

  JoinPath path_to(std::size_t place, const ViewLinks& links) {
    if (links.documents.contains(place)) return {{{0, "_id"}}, {"_id"}};
    JoinPath path;
    for (const ViewLink& link : links.links) {
      if (link.place != place && link.other != place) continue;
      const bool is_first = link.place == place;
      const PostgresRelation& other = relation_of(links.tables[is_first ? link.other : link.place]);
      for (const auto& [first, second] : link.columns) {
        const PostgresColumn* const column = other.column(is_first ? second : first);
        const std::string name = other.name + "." + column->quoted;
        path.columns.emplace(is_first ? first : second, name);
        path.names.insert(name);
      }
    }
    if (path.columns.empty()) return {{{0, ""}}, {"something else than an equality of two columns"}};
    return path;
  }

  void read_links_of(const IndexConfig& config, IndexDesign& index) {
    try {
      index.links = read_links(transaction_, index.view_oid, index.id_column);
    } catch (const NodeTreeError& error) {
      warn(config.line,
           "whether the tracks follow every join of view " + index.view + " is not known: " + error.what());
    }
  }

  void find_untracked_paths(const IndexConfig& config, const IndexDesign& index) {
    if (!index.links) return;
    const ViewLinks& links = *index.links;
    for (auto& [is_certain, line, message, remedy] :
         find_untracked_partitions(transaction_, config, index.view, links))
      is_certain ? fault(line, std::move(message), std::move(remedy))
                 : warn(line, std::move(message), std::move(remedy));
    const ViewGraph graph = named_graph(
        transaction_, links, [&](unsigned oid) -> const PostgresRelation& { return relation_of(oid); });
    std::map<std::string, std::vector<std::size_t>> tables;
    for (std::size_t place = 0; place < graph.places.size(); ++place) {
      if (relation_of(links.tables[place]).is_table()) tables[graph.places[place].table].push_back(place);
    }
    for (const auto& [table, places] : tables) compare_tracks(config, index, links, graph, table, places);
  }

  // A way that goes through a column of the view, begins at an expression or has `keys` may be any.
  void compare_tracks(const IndexConfig& config, const IndexDesign& index, const ViewLinks& links,
                      const ViewGraph& graph, const std::string& table,
                      const std::vector<std::size_t>& places) {
    std::vector<const TrackConfig*> tracks;
    std::size_t others = 0;
    bool has_keys = false;
    for (const TrackConfig& track : config.tracks) {
      if (track.ignore || track.table != table) continue;
      tracks.push_back(&track);
      has_keys = has_keys || !track.keys.empty();
      if (!track.column.empty() || !begin_of(track, links.tables[places.front()])) ++others;
    }
    if (tracks.empty()) return;
    std::vector<JoinPath> paths;
    bool is_reached = true;
    for (const std::size_t place : places) {
      if (std::none_of(tracks.begin(), tracks.end(), [&](const TrackConfig* track) {
            return gives_ids(*track, graph, place, links.tables[place]);
          })) {
        add_path(paths, path_to(place, links));
        is_reached = is_reached && paths_from(graph, place).is_reached;
      }
    }
    if (!has_keys && paths.size() > others) {
      std::string columns;
      for (const JoinPath& path : paths) columns += (columns.empty() ? "" : " and ") + listed(path.names);
      const std::string message = "view " + index.view + " comes to rows of " + table + " by " + columns +
                                  ", and " + (others == 0 ? "no track" : "fewer tracks") + " of " + table +
                                  (others == 0 ? " follows" : " follow") +
                                  ": a change of it may miss documents";
      const std::string remedy =
          "add [[index.track]] table = \"" + table + "\" for each, with the column of the view, or with keys";
      const int line = tracks.back()->line;
      return others == 0 && is_reached ? fault(line, message, remedy) : warn(line, message, remedy);
    }
    if (index.reads.opaque.empty() && !graph.everywhere.contains(table))
      note_needless(index, tracks, links, graph, places);
  }

  void note_needless(const IndexDesign& index, const std::vector<const TrackConfig*>& tracks,
                     const ViewLinks& links, const ViewGraph& graph, const std::vector<std::size_t>& places) {
    for (const TrackConfig* const track : tracks) {
      const std::optional<ColumnNames> begin = begin_of(*track, links.tables[places.front()]);
      if (!begin || track->row.empty() || !track->column.empty()) continue;
      const bool is_needed = std::any_of(places.begin(), places.end(), [&](std::size_t place) {
        return !paths_from(graph, place).is_reached || joins_by(graph, place, *begin);
      });
      if (is_needed) continue;
      warn(track->line,
           "view " + index.view + " joins no row of " + track->table + " by " + listed(*begin) +
               ": the track renders documents for nothing",
           "remove it");
    }
  }

  // The columns whose values a track takes; none: it takes an expression.
  std::optional<ColumnNames> begin_of(const TrackConfig& track, unsigned table) {
    const PostgresRelation& relation = relation_of(table);
    ColumnNames columns;
    if (track.row.empty()) {
      for (const PostgresColumn* column : relation.primary_key()) columns.push_back(column->quoted);
      return columns;
    }
    for (const PostgresColumn& column : relation.columns) {
      if (track.row == column.quoted || track.row == column.name) return ColumnNames{column.quoted};
    }
    return std::nullopt;
  }

  // Whether what the track takes of a row in that place are _ids.
  bool gives_ids(const TrackConfig& track, const ViewGraph& graph, std::size_t place, unsigned table) {
    const std::optional<ColumnNames> begin = begin_of(track, table);
    if (!begin || begin->size() != 1 || !track.keys.empty() || !track.column.empty()) return false;
    const auto is_id = [&](std::size_t at, const std::string& column) {
      const auto document = graph.documents.find(at);
      return document != graph.documents.end() && document->second == column;
    };
    return is_id(place, begin->front()) ||
           std::any_of(graph.links.begin(), graph.links.end(), [&](const ViewGraph::Link& link) {
             for (std::size_t i = 0; i < link.columns.size(); ++i) {
               if ((link.place == place && link.columns[i] == begin->front() &&
                    is_id(link.other, link.other_columns[i])) ||
                   (link.other == place && link.other_columns[i] == begin->front() &&
                    is_id(link.place, link.columns[i])))
                 return true;
             }
             return false;
           });
  }

  // Whether a way from there begins with one of these columns, or goes to the rows that are computed with it.
  static bool joins_by(const ViewGraph& graph, std::size_t place, const ColumnNames& columns) {
    const auto is_any = [&](const ColumnNames& own) {
      return std::find_first_of(own.begin(), own.end(), columns.begin(), columns.end()) != own.end();
    };
    const auto document = graph.documents.find(place);
    return (document != graph.documents.end() && is_any({document->second})) ||
           std::any_of(graph.links.begin(), graph.links.end(),
                       [&](const ViewGraph::Link& link) {
                         return (link.place == place && is_any(link.columns)) ||
                                (link.other == place && is_any(link.other_columns));
                       }) ||
           std::any_of(graph.peers.begin(), graph.peers.end(),
                       [&](const ViewGraph::Peers& peers) { return peers.deciding.contains(place); });
  }

  // --- tracks ---

  void add_track(const TrackConfig& config, const PostgresRelation& view, IndexDesign& index,
                 std::set<std::string>& covered) {
    std::string why;
    const std::optional<PostgresRelation> table =
        find_relation(transaction_, config.table, why, config.ignore ? Wanted::kRelation : Wanted::kTable);
    if (!table) return fault(config.line, why);
    covered.insert(table->name);
    const std::vector<TableMember>& members = members_of(table->oid);
    for (const TableMember& member : members) covered.insert(member.name);
    if (config.ignore) return;
    if (!table->is_table()) {
      return fault(
          config.line,
          table->name + " is a " + std::string(kind_name(table->kind)) + "; only tables can be tracked",
          table->kind == 'v' ? "track the tables that it reads" : "set ignore = true");
    }
    if (table->oid < kFirstOwnOid) {
      return fault(config.line,
                   table->name + " belongs to the system's catalog, whose changes cannot be captured",
                   "set ignore = true");
    }
    if (table->schema == transaction_.session().schema()) {
      return fault(config.line, table->name + " is one of lockstep's own tables", "set ignore = true");
    }
    if (table->columns.empty())
      return fault(config.line, table->name + " has no columns", "set ignore = true");
    const std::vector<std::string> ancestors = table_ancestors(transaction_, table->oid);
    if (!ancestors.empty()) return add_track_of_part(config, view, *table, ancestors, index);
    add_track_of_table(config, view, *table, index, Rows::kOfTheTable);
  }

  // A statement on a whole table fires no trigger of its parts, and its rows may belong to the part. So the
  // whole table is captured, and the values of other parts' rows lead to no document, or to one that is
  // written again.
  void add_track_of_part(const TrackConfig& config, const PostgresRelation& view,
                         const PostgresRelation& part, const std::vector<std::string>& ancestors,
                         IndexDesign& index) {
    std::vector<PostgresRelation> whole;
    for (const std::string& name : ancestors) {
      std::string why;
      std::optional<PostgresRelation> ancestor = find_relation(transaction_, name, why);
      if (ancestor && table_ancestors(transaction_, ancestor->oid).empty())
        whole.push_back(*std::move(ancestor));
    }
    const DescribedCapture described = describe_capture(transaction_, part, config);
    if (!described.capture) {
      add_capture(config, part);  // reports why
      return;
    }
    TrackConfig of_whole = config;
    of_whole.row = described.capture->expression;
    std::string why = "more than one table";
    if (whole.size() == 1) {
      const DescribedCapture same = describe_capture(transaction_, whole.front(), of_whole);
      if (same.capture && same.capture->value_type_oid == described.capture->value_type_oid)
        return add_track_of_table(of_whole, view, whole.front(), index, Rows::kOfItsParts);
      if (same.is_missing_right) return deny(config.line, same.fault);
      why = same.capture ? described.capture->expression + " has another type there" : same.fault;
    }
    fault(config.line,
          part.name + " is a part of " + ancestors.back() + ", whose changes it would miss: " + why,
          "track " + ancestors.back());
  }

  enum class Rows { kOfTheTable, kOfItsParts };

  void add_track_of_table(const TrackConfig& config, const PostgresRelation& view,
                          const PostgresRelation& table, IndexDesign& index, Rows rows) {
    const std::optional<std::size_t> capture = add_capture(config, table);
    if (!capture) return;
    TrackDesign track;
    track.capture = *capture;
    track.line = place(config.line);
    track.table = table.name;
    track.of_part = rows == Rows::kOfItsParts;
    if (!add_resolver(config, view, index, track)) return;
    index.tracks.push_back(std::move(track));
    TableDesign& tracked = design_.tables[table.name];
    if (tracked.captures.empty()) {
      tracked.relation = table;
      tracked.members = members_of(table.oid);
      warn_of_members(config, table, tracked.members);
    }
    if (std::find(tracked.captures.begin(), tracked.captures.end(), *capture) == tracked.captures.end()) {
      tracked.captures.push_back(*capture);
    }
    count_reads(config, index, tracked);
  }

  void warn_of_members(const TrackConfig& config, const PostgresRelation& table,
                       const std::vector<TableMember>& members) {
    for (const TableMember& member : members) {
      if (member.kind == 'f') {
        warn(config.line, "part of " + table.name + " is foreign table " + member.name +
                              ": changes at its server are not noticed");
      }
    }
  }

  std::optional<std::size_t> add_capture(const TrackConfig& config, const PostgresRelation& table) {
    DescribedCapture described = describe_capture(transaction_, table, config);
    if (described.is_missing_right) {
      deny(config.line, described.fault);
    } else if (!described.capture) {
      fault(config.line, described.fault, described.remedy);
    }
    if (!described.capture) return std::nullopt;
    const CaptureDesign& capture = *described.capture;
    const auto known =
        std::find_if(design_.captures.begin(), design_.captures.end(),
                     [&](const CaptureDesign& other) { return other.identity() == capture.identity(); });
    if (known != design_.captures.end()) return static_cast<std::size_t>(known - design_.captures.begin());
    design_.captures.push_back(capture);
    return design_.captures.size() - 1;
  }

  bool add_resolver(const TrackConfig& config, const PostgresRelation& view, const IndexDesign& index,
                    TrackDesign& track) {
    const CaptureDesign& capture = design_.captures[track.capture];
    const ResolverRequest request{
        view,          *view.column("_id"),  capture.value_type,    type_family(capture.value_type_oid),
        config.column, trimmed(config.keys), config_.source.schema, index.links};
    Resolver resolver = make_resolver(transaction_, request);
    if (resolver.is_missing_right) {
      deny(config.line, resolver.fault);
    } else if (!resolver.fault.empty()) {
      fault(config.line, resolver.fault, resolver.remedy);
      return false;
    }
    if (!resolver.warning.empty()) warn(config.line, resolver.warning, resolver.remedy);
    track.resolver_query = std::move(resolver.query);
    track.through_view = resolver.through_view;
    track.keys = trimmed(config.keys);
    return true;
  }

  // --- which updates count ---

  void count_reads(const TrackConfig& config, const IndexDesign& index, TableDesign& table) {
    const ViewReads& reads = index.reads;
    if (!reads.opaque.empty()) table.every_update = true;
    bool is_read = false;
    for (const auto& [oid, read] : reads.tables) {
      if (!is_same_data(table, oid)) continue;
      is_read = true;
      if (read.every_update) table.every_update = true;
      if (read.every_column) table.every_column = true;
      const PostgresRelation& relation = relation_of(oid);
      for (const int number : read.columns) {
        const PostgresColumn* column = relation.column(number);
        if (column == nullptr) continue;
        table.columns.insert(column->name);
        // The triggers of all parts share their code, which cannot name columns that only one of them has.
        if (table.relation.column(column->name) == nullptr) table.every_update = true;
      }
    }
    if (is_read) return;
    // The columns that matter are unknown.
    table.every_update = true;
    if (reads.opaque.empty()) {
      warn(config.line,
           "view " + index.view + " does not read table " + table.relation.name +
               "; every update of it counts as a change",
           "remove the track if it is a mistake");
    }
  }

  // Whether `oid` is the table itself, a part of it, or a table that it is a part of.
  bool is_same_data(const TableDesign& table, unsigned oid) {
    if (table.relation.oid == oid) return true;
    for (const TableMember& member : table.members) {
      if (member.oid == oid) return true;
    }
    for (const TableMember& member : members_of(oid)) {
      if (member.oid == table.relation.oid) return true;
    }
    return false;
  }

  static void add_counted_columns(TableDesign& table) {
    for (const PostgresColumn& column : table.relation.columns) {
      // It changes with the columns that it is computed from, and the catalog of an old server does not name
      // them.
      if (column.computed_on_read && table.columns.contains(column.name)) table.every_column = true;
    }
  }

  // Kept, because each table of an index is compared with each that its view reads.
  const std::vector<TableMember>& members_of(unsigned oid) {
    const auto known = members_.find(oid);
    if (known != members_.end()) return known->second;
    return members_.emplace(oid, table_members(transaction_, oid)).first->second;
  }

  const PostgresRelation& relation_of(unsigned oid) {
    const auto known = relations_.find(oid);
    if (known != relations_.end()) return known->second;
    return relations_.emplace(oid, describe_relation(transaction_, oid)).first->second;
  }

  PostgresTransaction& transaction_;
  const Config& config_;
  PipelineDesign design_;
  std::map<unsigned, std::vector<TableMember>> members_;  // by the table's oid
  std::map<unsigned, PostgresRelation> relations_;        // by oid
};

}  // namespace

std::string resolver_name(const PipelineDesign& design, const TrackDesign& track) {
  if (track.resolver_query.empty()) return {};
  return "resolve_" + checksum(design.captures[track.capture].value_type + "\n" + track.resolver_query);
}

PipelineDesign design_pipeline(PostgresTransaction& transaction, const Config& config,
                               const std::vector<IndexConfig>& indices) {
  return Designer(transaction, config).design(indices);
}

}  // namespace lockstep
