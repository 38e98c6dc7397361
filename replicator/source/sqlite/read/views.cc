#include "replicator/source/sqlite/read/views.h"

#include <sqlite3.h>

#include <chrono>
#include <cstddef>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replicator/hex.h"
#include "replicator/one_line.h"
#include "replicator/source/index_definition.h"
#include "replicator/source/sqlite/catalog/view_shape.h"
#include "replicator/source/sqlite/read/ids.h"
#include "replicator/source/sqlite/read/json_text.h"
#include "replicator/source/sqlite/session/exact_value.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/time_limit.h"
#include "replicator/utf8.h"

namespace lockstep {
namespace {

// Some views take long for their first document, and the caller has other indices to follow.
constexpr std::chrono::milliseconds kFirstDocumentLimit{1'000};

// SQLite keeps no estimate, and the leader counts between its turns.
constexpr std::chrono::milliseconds kCountLimit{200};

// The columns of a row of select_from().
constexpr int kId = 0;
constexpr int kRouting = 1;
constexpr int kFirstField = 2;

/// A row of the view.
struct Row {
  std::string id;
  std::string routing;
  std::string json;
  std::string fault;
  bool is_ambiguous = false;

  RenderedDocument document() const {
    RenderedDocument rendered;
    rendered.id = id;
    rendered.routing = routing;
    rendered.json = json;
    rendered.fault = fault;
    rendered.is_ambiguous = is_ambiguous;
    return rendered;
  }
};

std::string select_from(const SqliteIndex& index, std::string_view filter) {
  std::string text = std::string("select v._id, ") + (index.routed ? "v._routing" : "null");
  for (const SqliteField& field : index.fields) text += ", v." + quote_sqlite_name(field.name);
  return text + " from " + index.view + " as v where " + std::string(filter);
}

// The rows of a page, for bind_page().
std::string page_filter(const SqliteIndex& index, const std::optional<DocumentId>& after) {
  const std::string id =
      index.id_type == SqliteIndex::IdType::kAny ? "cast(lockstep_id(v._id) as text)" : "v._id";
  return "v._id is not null" + (after ? " and " + id + " > ?2" : std::string()) + " order by " + id +
         " limit ?1";
}

void bind_page(SqliteStatement& rows, const SqliteIndex& index, const std::optional<DocumentId>& after,
               std::int64_t limit) {
  rows.bind(1, limit);
  if (after && index.id_type == SqliteIndex::IdType::kInteger) {
    rows.bind(2, static_cast<std::int64_t>(std::stoll(after->text)));
  } else if (after) {
    rows.bind(2, after->text);
  }
}

constexpr const char* kBlobId = "the _id is a blob; let the view make it a text: lower(hex(…)) as _id";

const std::string kWanted = "v._id in (" + std::string(kExactValues) + ")";

std::string required_id(const SqliteIndex& index, const SqliteColumn& value) {
  using IdType = SqliteIndex::IdType;
  const SqliteColumn::Type type = value.type();
  const bool fits = index.id_type == IdType::kInteger ? type == SqliteColumn::Type::kInteger
                    : index.id_type == IdType::kText  ? type == SqliteColumn::Type::kText
                                                      : true;
  if (fits) return id_text(value);
  const char* const expected = index.id_type == IdType::kInteger ? "an integer" : "a text";
  throw ViewError(
      {"reading view " + index.view, "_id is \"" + id_text(value) + "\" in a row, which is not " + expected,
       "let the view give _id one type: cast(… as text), or hex(…) for a blob; then run `lockstep "
       "apply`",
       Retry::kNever, Server::kSource},
      index.id);
}

void append_field(Row& row, const SqliteField& field, const SqliteColumn& value) {
  if (!field.holds_json || value.type() != SqliteColumn::Type::kText) {
    append_json_value(row.json, value);
  } else if (nlohmann::json::accept(value.text())) {
    row.json += value.text();
  } else {
    append_json_value(row.json, value);
    row.fault =
        "column " + field.name +
        ", which `json` in [[index]] names, holds no JSON: take it out of `json`, or let the view make "
        "JSON of it";
  }
}

Row row_of(const SqliteIndex& index, const SqliteStatement& found) {
  Row row;
  row.id = required_id(index, found[kId]);
  if (found[kId].type() == SqliteColumn::Type::kBlob) row.fault = kBlobId;
  if (!found[kRouting].is_null()) row.routing = id_text(found[kRouting]);
  row.json = "{";
  int column = kFirstField;
  for (const SqliteField& field : index.fields) {
    if (column > kFirstField) row.json += ',';
    append_json_text(row.json, field.name);
    row.json += ':';
    append_field(row, field, found[column++]);
  }
  row.json += '}';
  return row;
}

// Whether documents of these ids cannot be rendered. Throws SqliteError, a retryable one.
bool fails(SqliteConnection& connection, const SqliteIndex& index, const DocumentIds& ids) {
  try {
    SqliteStatement(connection, "looking for a row that fails", SqliteText{select_from(index, kWanted)},
                    comparable_ids(index, ids))
        .run();
    return false;
  } catch (const SqliteError& error) {
    if (error.retryable()) throw;
    return true;
  }
}

// An id that no row has.
DocumentId nobody(const SqliteIndex& index) {
  const bool is_number = index.id_type == SqliteIndex::IdType::kInteger;
  return {is_number ? std::to_string(std::numeric_limits<std::int64_t>::min()) : "\x01 probe"};
}

// The first of these whose document cannot be rendered, by halves. None: they can, or the view fails
// whichever row is asked for.
std::optional<DocumentId> find_failing(SqliteConnection& connection, const SqliteIndex& index,
                                       DocumentIds ids) {
  if (!fails(connection, index, ids) || fails(connection, index, {nobody(index)})) return std::nullopt;
  while (ids.size() > 1) {
    const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2);
    DocumentIds first(ids.begin(), middle);
    if (fails(connection, index, first)) {
      ids = std::move(first);
    } else {
      ids.erase(ids.begin(), middle);
    }
  }
  return ids.front();
}

/// Runs `read` as reading_view() does. When a row of those that `ids` gives lets the view fail, the error
/// names it.
template <typename Ids, typename Read>
void reading_rows(SqliteConnection& connection, const SqliteIndex& index, const Ids& ids, const Read& read) {
  try {
    reading_view(index, read);
  } catch (const ViewError& error) {
    std::optional<DocumentId> failing;
    try {
      failing = find_failing(connection, index, ids());
    } catch (const SqliteError&) {
      // The view's own error is enough, and if the file cannot be read now the next look reports it.
    }
    if (!failing) throw;
    Error::Parts parts = error.parts();
    parts.cause += ", in the row whose _id is \"" + in_one_line(as_utf8(failing->text)) + "\"";
    parts.remedy = "correct this row, or let the view take it";
    throw ViewError(parts, index.id);
  }
}

void give(RenderedDocument document, SqliteRoutes* routes, const DocumentSink& sink) {
  if (routes != nullptr) routes->fill(document);
  sink(document);
}

void call_id_text(sqlite3_context* context, int /*arguments*/, sqlite3_value** values) {
  sqlite3_value* const value = *values;
  const int type = sqlite3_value_type(value);
  if (type != SQLITE_FLOAT && type != SQLITE_BLOB) {
    sqlite3_result_value(context, value);  // comparing them as texts casts them as id_text() does
    return;
  }
  const auto bytes = [&] {
    return std::string_view(static_cast<const char*>(sqlite3_value_blob(value)),
                            static_cast<std::size_t>(sqlite3_value_bytes(value)));
  };
  const std::string text = type == SQLITE_FLOAT ? id_text(sqlite3_value_double(value)) : hex_of(bytes());
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

}  // namespace

void add_id_function(SqliteConnection& connection) {
  const int code = sqlite3_create_function(connection.handle(), "lockstep_id", 1,
                                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr,
                                           call_id_text, nullptr, nullptr);
  if (code != SQLITE_OK) throw sqlite_error("making an SQL function", connection.handle(), code);
}

// Documents that do not fit any more are left over, but every row is looked at: two may have one _id.
DocumentIds SqliteViews::render(const SqliteIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                                SqliteRoutes* routes, const DocumentSink& sink) {
  std::vector<Row> rendered;
  std::unordered_map<std::string, std::size_t> place_of;  // in `rendered`, of those that are there
  std::unordered_set<std::string> left_over;
  std::int64_t bytes = 0;
  reading_rows(
      connection_, index, [&] { return ids; },
      [&] {
        SqliteStatement rows(connection_, "rendering documents of " + index.alias,
                             SqliteText{select_from(index, kWanted)}, comparable_ids(index, ids));
        while (rows.step()) {
          std::string id = required_id(index, rows[kId]);
          const auto known = place_of.find(id);
          if (known != place_of.end()) {
            rendered[known->second].is_ambiguous = true;
          } else if (bytes >= max_bytes && !rendered.empty()) {
            left_over.insert(std::move(id));
          } else {
            rendered.push_back(row_of(index, rows));
            bytes += static_cast<std::int64_t>(rendered.back().json.size());
            place_of.emplace(std::move(id), rendered.size() - 1);
          }
        }
      });
  if (routes != nullptr) routes->load(ids);
  for (const Row& row : rendered) give(row.document(), routes, sink);
  std::unordered_set<std::string_view> absent;
  DocumentIds not_given;
  for (const DocumentId& id : ids) {
    if (left_over.erase(id.text) > 0) {
      not_given.push_back(id);
    } else if (!place_of.contains(id.text) && absent.insert(id.text).second) {
      RenderedDocument document;
      document.id = id.text;
      give(std::move(document), routes, sink);
    }
  }
  return not_given;
}

ViewPageEnd SqliteViews::render_page(const SqliteIndex& index, const std::optional<DocumentId>& after,
                                     std::int64_t limit, std::int64_t max_bytes, SqliteRoutes* routes,
                                     const DocumentSink& sink) {
  const std::string filter = page_filter(index, after);
  std::vector<Row> page;
  ViewPageEnd end;
  end.end = true;
  const auto ids_of_page = [&] {
    SqliteStatement rows(connection_, "looking for a row that fails",
                         SqliteText{"select v._id from " + index.view + " as v where " + filter});
    bind_page(rows, index, after, limit);
    DocumentIds ids;
    while (rows.step()) ids.push_back({id_text(rows[0])});
    return ids;
  };
  reading_rows(connection_, index, ids_of_page, [&] {
    SqliteStatement rows(connection_, "rendering a page of " + index.alias,
                         SqliteText{select_from(index, filter)});
    bind_page(rows, index, after, limit);
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    while (rows.step()) {
      if (++count == limit) end.end = false;
      Row row = row_of(index, rows);
      if (!page.empty() && page.back().id == row.id) {
        page.back().is_ambiguous = true;
      } else if (bytes >= max_bytes && !page.empty()) {
        end.end = false;
        return;
      } else {
        bytes += static_cast<std::int64_t>(row.json.size());
        page.push_back(std::move(row));
      }
    }
  });
  if (routes != nullptr) {
    DocumentIds ids;
    for (const Row& row : page) ids.push_back({row.id});
    routes->load(ids);
  }
  for (const Row& row : page) give(row.document(), routes, sink);
  if (!page.empty()) end.last = DocumentId{page.back().id};
  return end;
}

ViewList SqliteViews::list_page(const SqliteIndex& index, const std::optional<DocumentId>& after,
                                std::int64_t limit) {
  ViewList list;
  reading_view(index, [&] {
    const std::string routing = index.routed ? "v._routing" : "null";
    SqliteStatement rows(connection_, "listing a page of " + index.alias,
                         SqliteText{"select v._id, " + routing + " from " + index.view + " as v where " +
                                    page_filter(index, after)});
    bind_page(rows, index, after, limit);
    std::int64_t count = 0;
    for (; rows.step(); ++count) {
      std::string id = required_id(index, rows[0]);
      if (!list.documents.empty() && list.documents.back().id.text == id) continue;  // several rows have it
      list.documents.push_back({{std::move(id)}, rows[1].is_null() ? std::string() : id_text(rows[1])});
    }
    list.end = count < limit;
  });
  return list;
}

std::optional<std::int64_t> SqliteViews::estimate_documents(const SqliteIndex& index) {
  std::optional<std::int64_t> documents;
  reading_view(index, [&] {
    try {
      const SqliteTimeLimit limit(connection_, kCountLimit);
      SqliteStatement count(connection_, "counting the documents of " + index.alias,
                            SqliteText{"select count(*) from " + index.view});
      if (count.step()) documents = count[0].integer();
    } catch (const SqliteError& error) {
      if (!is_interrupted(error)) throw;
    }
  });
  return documents;
}

std::vector<StaleDocument> SqliteViews::stale(const SqliteIndex& index,
                                              const std::vector<FoundDocument>& found) {
  DocumentIds ids;
  for (const FoundDocument& document : found) ids.push_back(document.id);
  std::multimap<std::string, std::string, std::less<>> present;  // id → routing
  reading_view(index, [&] {
    const std::string routing = index.routed ? "v._routing" : "null";
    SqliteStatement rows(
        connection_, "looking for documents that the view does not have of " + index.alias,
        SqliteText{"select v._id, " + routing + " from " + index.view + " as v where " + kWanted},
        comparable_ids(index, ids));
    while (rows.step())
      present.emplace(required_id(index, rows[0]), rows[1].is_null() ? std::string() : id_text(rows[1]));
  });
  std::vector<StaleDocument> stale;
  for (const FoundDocument& document : found) {
    const auto [first, last] = present.equal_range(document.id.text);
    bool is_right = false;
    for (auto each = first; each != last; ++each) is_right |= each->second == document.routing;
    if (!is_right) stale.push_back({document, first != last});
  }
  return stale;
}

std::vector<DefinitionDifference> SqliteViews::reshaped(const SqliteIndex& index) {
  const std::optional<SqliteTable> view = find_table(connection_, index.view);
  if (!view || !view->complaint.empty()) return {};
  DocumentShape is{view->name, "", index.routed, {}};
  for (const SqliteField& field : index.fields) is.fields.push_back(field.name);
  return compare_shapes(is, shape_of(*view, is));
}

void SqliteViews::require_readable(const SqliteIndex& index) {
  const DocumentSink nobody = [](const RenderedDocument&) {};
  render(index, {}, 1, nullptr, nobody);
  std::vector<CapturedChange> nothing;
  for (const SqliteTrack& track : index.tracks) nothing.push_back({track.capture, {}, false});
  find_ids(connection_, pipeline_, index, nothing, {1});
  try {
    const SqliteTimeLimit limit(connection_, kFirstDocumentLimit);
    render_page(index, std::nullopt, 1, 1, nullptr, nobody);
  } catch (const SqliteError& error) {
    // Nothing was wrong until then; a later reader meets the rest.
    if (!is_interrupted(error)) throw;
  }
}

}  // namespace lockstep
