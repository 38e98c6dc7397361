#include "replicator/source/postgres/read/views.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_set>

#include "replicator/source/index_definition.h"
#include "replicator/source/postgres/catalog/planner_estimate.h"
#include "replicator/source/postgres/catalog/view_shape.h"
#include "replicator/source/postgres/read/failing_row.h"
#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/read/position.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/encoding.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

// Some views take long for their first document, and the caller has other indices to follow.
constexpr const char* kFirstDocumentLimit = "set local statement_timeout = '1s'";
constexpr const char* kLockLimit = "set local lock_timeout = '500ms'";

std::string_view text_of(const pqxx::field& field) {
  return {field.c_str(), field.size()};
}

// A row of `render_documents`; without json when the document did not fit. Steps from field to field: each
// that is asked for by its number is an object that owns the whole result.
RenderedDocument document_of(const pqxx::row& row) {
  pqxx::const_row_iterator field = row.begin();
  RenderedDocument document;
  document.id = text_of(*field);
  if (!(++field)->is_null()) document.routing = text_of(*field);
  if (!(++field)->is_null()) document.json = text_of(*field);
  return document;
}

std::string routing_of(const PostgresIndex& index) {
  return index.routed ? "v._routing::text" : "null::text";
}

// The rows of a page, with the parameters at which its limit and the last _id before it are.
std::string page_filter(const PostgresIndex& index, const std::optional<DocumentId>& after,
                        const std::string& limit_at, const std::string& after_at) {
  return "v._id is not null" + (after ? " and v._id > " + after_at + "::" + index.id_type : std::string()) +
         " order by v._id limit " + limit_at + "::bigint";
}

// $1 the limit, $2 the last _id before the page.
std::string list_statement(const PostgresIndex& index, const std::optional<DocumentId>& after) {
  return "select v._id::text, " + routing_of(index) + " from " + index.view + " as v where " +
         page_filter(index, after, "$1", "$2");
}

std::string_view id_of(const pqxx::row& row) {
  return text_of(*row.begin());
}

// The ids that more than one row has.
std::unordered_set<std::string_view> ambiguous_ids(const pqxx::result& rows) {
  std::unordered_set<std::string_view> seen;
  std::unordered_set<std::string_view> ambiguous;
  seen.reserve(static_cast<std::size_t>(rows.size()));
  for (const pqxx::row& row : rows) {
    if (!seen.insert(id_of(row)).second) ambiguous.insert(id_of(row));
  }
  return ambiguous;
}

// Takes the ids of the rows from those that are absent. Whether each row had one of its own: then no id has
// several rows.
bool have_come(const pqxx::result& rows, std::unordered_set<std::string_view>& absent) {
  std::size_t come = 0;
  for (const pqxx::row& row : rows) come += absent.erase(id_of(row));
  return come == static_cast<std::size_t>(rows.size());
}

PostgresRoutes* pointer_to(std::optional<PostgresRoutes>& routes) {
  return routes ? &*routes : nullptr;
}

void give(RenderedDocument& document, PostgresRoutes* routes, const DocumentSink& sink) {
  if (routes != nullptr) routes->fill(document);
  sink(document);
}

// Runs `read` as reading_view() does. When a row of those that `ids` gives makes the view fail, the error
// names it. `by_ids` is statement_by_ids().
template <typename Ids, typename Read>
auto reading_rows(PostgresTransaction& transaction, const PostgresIndex& index, const std::string& by_ids,
                  const Ids& ids, const Read& read) {
  try {
    return reading_view(index, read);
  } catch (const ViewError& error) {
    transaction.close();  // it has failed, and the search needs others
    DocumentIds suspects;
    try {
      suspects = ids();
    } catch (const PostgresError&) {
      throw error;
    }
    throw naming_failing_row(transaction.session(), index, by_ids, suspects, error);
  }
}

}  // namespace

Position PostgresViews::position() {
  const pqxx::result row =
      transaction_.run(Doing("asking for the snapshot"), "select pg_current_snapshot()::text");
  return PostgresPosition{row[0][0].c_str(), "", 0, 0}.to_position();
}

DocumentIds PostgresViews::render(const AppliedIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                                  const DocumentSink& sink) {
  const PostgresIndex& own = pipeline_.index(index.id);
  const std::vector<bool> can_be = can_be_ids(transaction_, own, ids);
  if (std::find(can_be.begin(), can_be.end(), false) == can_be.end())
    return render(own, ids, max_bytes, nullptr, sink);
  DocumentIds possible;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (can_be[i]) {
      possible.push_back(ids[i]);
    } else {
      RenderedDocument document;
      document.id = ids[i].text;
      sink(document);
    }
  }
  return render(own, possible, max_bytes, nullptr, sink);
}

ViewPageEnd PostgresViews::render_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                                       std::int64_t limit, std::int64_t max_bytes, const DocumentSink& sink) {
  return render_page(pipeline_.index(index.id), after, limit, max_bytes, nullptr, sink);
}

DocumentIds PostgresViews::render_for(DocumentVersion version, const AppliedIndex& index,
                                      const DocumentIds& ids, std::int64_t max_bytes,
                                      const DocumentSink& sink) {
  const PostgresIndex& own = pipeline_.index(index.id);
  std::optional<PostgresRoutes> routes = routes_for(version, own);
  return render(own, ids, max_bytes, pointer_to(routes), sink);
}

ViewPageEnd PostgresViews::render_page_for(DocumentVersion version, const AppliedIndex& index,
                                           const std::optional<DocumentId>& after, std::int64_t limit,
                                           std::int64_t max_bytes, const DocumentSink& sink) {
  const PostgresIndex& own = pipeline_.index(index.id);
  std::optional<PostgresRoutes> routes = routes_for(version, own);
  return render_page(own, after, limit, max_bytes, pointer_to(routes), sink);
}

std::optional<PostgresRoutes> PostgresViews::routes_for(DocumentVersion version, const PostgresIndex& index) {
  if (!index.routed) return std::nullopt;
  return PostgresRoutes(transaction_, index, version);
}

std::string PostgresViews::render_statement(const PostgresIndex& index, std::string_view filter) {
  std::string columns;
  for (const std::string& field : index.fields) {
    if (!columns.empty()) columns += ", ";
    columns += "v." + transaction_.session().quote_name(field);
  }
  return fill_placeholders(
      postgres_sql("render_documents"),
      {{"columns", columns}, {"routing", routing_of(index)}, {"view", index.view}, {"filter", filter}});
}

std::string PostgresViews::statement_by_ids(const PostgresIndex& index) {
  return render_statement(index, "v._id = any($2::" + index.id_type + "[])");
}

DocumentIds PostgresViews::render(const PostgresIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                                  PostgresRoutes* routes, const DocumentSink& sink) {
  const Doing doing("rendering documents of " + index.alias);
  const std::string statement = statement_by_ids(index);
  const auto the_ids = [&] { return ids; };
  std::vector<pqxx::result> parts = reading_rows(transaction_, index, statement, the_ids, [&] {
    return sharing_ != nullptr ? sharing_->render(transaction_, doing, index.id, statement, ids, max_bytes)
                               : std::vector{render_by_ids(transaction_, doing, statement, ids, max_bytes)};
  });
  if (routes != nullptr) routes->load(ids);
  DocumentIds left_over;
  std::unordered_set<std::string_view> absent;
  absent.reserve(ids.size());
  for (const DocumentId& id : ids) absent.insert(id.text);
  for (pqxx::result& rows : parts) {
    std::unordered_set<std::string_view> ambiguous;
    if (!have_come(rows, absent)) ambiguous = ambiguous_ids(rows);
    std::unordered_set<std::string_view> seen;  // of those
    for (const pqxx::row& row : rows) {
      RenderedDocument document = document_of(row);
      document.is_ambiguous = ambiguous.contains(document.id);
      if (document.is_ambiguous && !seen.insert(document.id).second) continue;
      if (document.json) {
        give(document, routes, sink);
      } else {
        left_over.push_back({std::string(document.id)});
      }
    }
    rows.clear();  // its documents are in the request, which grows
  }
  for (const std::string_view id : absent) {
    RenderedDocument document;
    document.id = id;
    give(document, routes, sink);
  }
  if (routes != nullptr) routes->save();
  return left_over;
}

ViewPageEnd PostgresViews::render_page(const PostgresIndex& index, const std::optional<DocumentId>& after,
                                       std::int64_t limit, std::int64_t max_bytes, PostgresRoutes* routes,
                                       const DocumentSink& sink) {
  const Doing doing("rendering a page of " + index.alias);
  const std::string statement = render_statement(index, page_filter(index, after, "$2", "$3"));
  const auto its_ids = [&] {
    const std::string select = list_statement(index, after);
    PostgresTransaction listing(transaction_.session(), doing.what, Isolation::kRepeatableReadOnly);
    listing.execute(kFirstDocumentLimit);
    DocumentIds ids;
    for (const pqxx::row& row :
         after ? listing.run_once(select, limit, after->text) : listing.run_once(select, limit))
      ids.push_back({std::string(id_of(row))});
    return ids;
  };
  const std::string by_ids = statement_by_ids(index);
  const pqxx::result rows =
      reading_rows(transaction_, index, by_ids, its_ids, [&] {  // each page deserves a plan of its own
        return after ? transaction_.run_once(doing, statement, max_bytes, limit, after->text)
                     : transaction_.run_once(doing, statement, max_bytes, limit);
      });
  if (routes != nullptr) {
    DocumentIds ids;
    for (const pqxx::row& row : rows) ids.push_back({std::string(id_of(row))});
    routes->load(ids);
  }
  const std::unordered_set<std::string_view> ambiguous = ambiguous_ids(rows);
  ViewPageEnd page;
  page.end = static_cast<std::int64_t>(rows.size()) < limit;
  for (const pqxx::row& row : rows) {
    RenderedDocument document = document_of(row);
    if (!document.json) {
      page.end = false;
      break;
    }
    document.is_ambiguous = ambiguous.contains(document.id);
    if (document.is_ambiguous && page.last && page.last->text == document.id) continue;
    page.last = DocumentId{std::string(document.id)};
    give(document, routes, sink);
  }
  if (routes != nullptr) routes->save();
  return page;
}

ViewList PostgresViews::list_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                                  std::int64_t limit) {
  const PostgresIndex& own = pipeline_.index(index.id);
  const Doing doing("listing a page of " + own.alias);
  const std::string statement = list_statement(own, after);
  const pqxx::result rows = reading_view(own, [&] {  // each page deserves a plan of its own
    return after ? transaction_.run_once(doing, statement, limit, after->text)
                 : transaction_.run_once(doing, statement, limit);
  });
  ViewList list;
  list.end = static_cast<std::int64_t>(rows.size()) < limit;
  list.documents.reserve(static_cast<std::size_t>(rows.size()));
  for (const pqxx::row& row : rows) {
    const std::string_view id = id_of(row);
    if (!list.documents.empty() && list.documents.back().id.text == id) continue;  // several rows have it
    list.documents.push_back(
        {{std::string(id)}, row[1].is_null() ? std::string() : std::string(text_of(row[1]))});
  }
  return list;
}

std::int64_t PostgresViews::estimate_documents(const AppliedIndex& index) {
  const PostgresIndex& own = pipeline_.index(index.id);
  return rows_planned(reading_view(own, [&] {
    return transaction_.run_once(Doing("estimating the documents of " + own.alias),
                                 ask_planner_for_rows(own.view));
  }));
}

std::vector<StaleDocument> PostgresViews::stale(const AppliedIndex& index,
                                                const std::vector<FoundDocument>& found) {
  const PostgresIndex& own = pipeline_.index(index.id);
  const std::string statement = fill_placeholders(
      postgres_sql("find_stale"), {{"key", castable_id(own, "f.id")},
                                   {"type", castable_type(own)},
                                   {"routing", own.routed ? "coalesce(v._routing::text, '')" : "''"},
                                   {"view", own.view}});
  std::vector<std::string> texts;
  for (const FoundDocument& document : found) texts.push_back(document.id.text);
  for (const FoundDocument& document : found) texts.push_back(document.routing);
  const std::vector<bool> held = can_be_held(transaction_, texts);
  std::vector<StaleDocument> stale;
  DocumentIds ids;
  std::vector<std::string> routings;
  for (std::size_t i = 0; i < found.size(); ++i) {
    // No row has a text that the database cannot hold. The id of an impossible routing may be a row's.
    if (!held[i] || !held[found.size() + i]) {
      stale.push_back({found[i], held[i]});
      continue;
    }
    ids.push_back(found[i].id);
    routings.push_back(found[i].routing);
  }
  const pqxx::result rows = reading_view(own, [&] {
    return transaction_.run_once(Doing("looking for documents that the view does not have of " + own.alias),
                                 statement, ids_literal(ids), array_literal(routings));
  });
  for (const pqxx::row& row : rows) {
    stale.push_back({{{row[0].c_str()}, row[1].c_str()}, row[2].as<bool>()});
  }
  return stale;
}

std::vector<DefinitionDifference> PostgresViews::reshaped(const AppliedIndex& index) {
  const PostgresIndex& own = pipeline_.index(index.id);
  std::string why;
  const std::optional<PostgresRelation> view = find_relation(transaction_, own.view, why);
  if (!view) return {};
  const DocumentShape is{own.view, own.id_type, own.routed, own.fields};
  return compare_shapes(is, shape_of(*view, is));
}

void PostgresViews::require_readable(const AppliedIndex& index) {
  transaction_.execute(kLockLimit);
  render(index, {}, 1, [](const RenderedDocument&) {});
  std::vector<CapturedChange> nothing;
  for (const CaptureId capture : index.captures) nothing.push_back({capture, {}, false});
  find_ids(transaction_, pipeline_.index(index.id), nothing, {1});
  try {
    transaction_.execute(kFirstDocumentLimit);
    render_page(pipeline_.index(index.id), std::nullopt, 1, 1, nullptr, [](const RenderedDocument&) {});
  } catch (const PostgresError& error) {
    // Nothing was wrong until then; a later reader meets the rest.
    if (error.sqlstate() != sqlstate::kQueryCanceled) throw;
  }
}

}  // namespace lockstep
