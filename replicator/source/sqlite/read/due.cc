#include "replicator/source/sqlite/read/due.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_set>
#include <utility>

#include "replicator/source/sqlite/read/json_text.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::string_view kDueTable = "due";
constexpr const char* kLoading = "loading the due list";
constexpr const char* kAdding = "adding to the due list";
constexpr const char* kFinding = "finding the documents of a large change";

std::string numbers_array(const std::vector<DueNumber>& numbers) {
  nlohmann::json array = nlohmann::json::array();
  for (const DueNumber number : numbers) array.push_back(number.value);
  return array.dump();
}

std::optional<DocumentVersion> version_of(const SqliteColumn& as_of) {
  const std::optional<std::int64_t> value = as_of.optional_integer();
  return value ? std::optional(DocumentVersion::from_value(*value)) : std::nullopt;
}

std::optional<std::int64_t> value_of(const std::optional<DocumentVersion>& version) {
  return version ? std::optional(version->value()) : std::nullopt;
}

// In the form in which changes have their values.
Values values_of(const SqliteColumn& keys) {
  const std::string text = stored_text(keys, kDueTable);
  try {
    Values values;
    for (const nlohmann::json& key : nlohmann::json::parse(text)) values.push_back(key.dump());
    return values;
  } catch (const nlohmann::json::exception&) {
    throw unfit_value("lockstep's table due", "keys", text, "a JSON array of values");
  }
}

}  // namespace

std::int64_t due_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::vector<DueList> load_due(SqliteConnection& connection, int pipeline) {
  SqliteStatement row(
      connection, kLoading,
      "select d.index_id, coalesce(sum(d.documents), 0), count(*) - count(d.ids), "
      "count(d.read_to) > 0, min(coalesce(d.since, d.number)), max(d.number), min(d.due_at), "
      "(select o.reason from {schema}_due as o where o.index_id = d.index_id and o.due_at <= ?2 "
      "order by o.due_at, o.number limit 1) "
      "from {schema}_due as d join {schema}_index as i on i.id = d.index_id "
      "where i.pipeline = ?1 and d.due_at <= ?2 group by d.index_id order by d.index_id",
      pipeline, due_now());
  std::vector<DueList> lists;
  while (row.step()) {
    lists.push_back({IndexId{static_cast<int>(row[0].integer())}, row[1].integer(), row[2].integer(),
                     row[3].integer() != 0, DueNumber{row[4].integer()}, DueNumber{row[5].integer()},
                     std::chrono::milliseconds(std::max<std::int64_t>(0, due_now() - row[6].integer())),
                     stored_text(row[7], kDueTable)});
  }
  return lists;
}

NextDue read_next_due(SqliteConnection& connection, IndexId index, const std::vector<DueNumber>& in_hand) {
  constexpr const char* kReading = "reading the due list";
  NextDue next;
  {
    SqliteStatement row(connection, kReading,
                        "select exists (select 1 from {schema}_due where index_id = ?1 and ids is null), "
                        "exists (select 1 from {schema}_due where index_id = ?1 and read_to is not null)",
                        index.value);
    row.step();
    next.has_changes = row[0].integer() != 0;
    next.keeps_rows = row[1].integer() != 0;
  }
  const std::int64_t now = due_now();
  const std::string numbers = numbers_array(in_hand);
  SqliteStatement page(
      connection, kReading,
      "select number, since, as_of, ids from {schema}_due where index_id = ?1 and ids is not "
      "null and not_before <= ?3 and number not in (select value from json_each(?2)) "
      "order by number limit 1",
      index.value, numbers, now);
  if (page.step()) {
    next.page.emplace();
    next.page->number = {page[0].integer()};
    next.page->since = {page[1].optional_integer().value_or(page[0].integer())};
    next.page->as_of = version_of(page[2]);
    for (std::string& id : stored_texts(page[3], kDueTable)) next.page->ids.push_back({std::move(id)});
    return next;
  }
  SqliteStatement waiting(connection, kReading,
                          "select min(not_before) from {schema}_due where index_id = ?1 and ids is not null "
                          "and number not in (select value from json_each(?2)) and due_at <= ?3",
                          index.value, numbers, now);
  waiting.step();
  if (const auto at = waiting[0].optional_integer())
    next.ready_in = std::chrono::milliseconds(std::max<std::int64_t>(1, *at - now));
  return next;
}

std::int64_t SqliteDue::next_number() {
  connection_.execute(kAdding, "update {schema}_counter set due = due + 1");
  SqliteStatement number(connection_, kAdding, "select due from {schema}_counter");
  number.step();
  return number[0].integer();
}

void SqliteDue::add(IndexId index, const std::vector<CapturedChange>& changes, DocumentVersion as_of) {
  for (const CapturedChange& change : changes) {
    SqliteStatement(connection_, kAdding,
                    "insert into {schema}_due (number, index_id, as_of, due_at, reason, capture, keys) "
                    "values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    next_number(), index.value, as_of.value(), due_now(), kManyDocuments,
                    change.capture.value, json_array(change.values))
        .run();
  }
}

void SqliteDue::add(IndexId index, const SqliteRows& rows, DocumentVersion as_of) {
  SqliteStatement(connection_, kAdding,
                  "insert into {schema}_due (number, index_id, as_of, due_at, reason, read_from, read_to) "
                  "values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                  next_number(), index.value, as_of.value(), due_now(), kManyChanges, rows.behind, rows.up_to)
      .run();
}

void SqliteDue::add(IndexId index, const DocumentIds& ids, const DueOrigin& origin) {
  std::unordered_set<std::string_view> listed;
  DocumentIds page;
  const std::int64_t due_at = due_now() + origin.later.count();
  for (const DocumentId& id : ids) {
    if (!listed.insert(id.text).second) continue;
    page.push_back(id);
    if (static_cast<std::int64_t>(page.size()) == kDuePageDocuments)
      add_page(index, std::exchange(page, {}), origin, due_at);
  }
  if (!page.empty()) add_page(index, page, origin, due_at);
}

void SqliteDue::add_page(IndexId index, const DocumentIds& ids, const DueOrigin& origin,
                         std::int64_t due_at) {
  const std::optional<std::int64_t> since = origin.since ? std::optional(origin.since->value) : std::nullopt;
  const bool waits = origin.pause.count() > 0 || origin.later.count() > 0;
  const std::int64_t not_before = waits ? due_at + origin.pause.count() : 0;
  SqliteStatement(connection_, kAdding,
                  "insert into {schema}_due "
                  "(number, index_id, since, as_of, due_at, not_before, reason, ids, documents) "
                  "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                  next_number(), index.value, since, value_of(origin.as_of), due_at, not_before,
                  origin.reason, json_array_of_texts(ids), static_cast<std::int64_t>(ids.size()))
      .run();
}

DocumentIds SqliteDue::without_waiting(IndexId index, const DocumentIds& ids, const DueOrigin& origin,
                                       const std::vector<WrittenPage>& written) {
  std::set<std::string> wanted;
  for (const DocumentId& id : ids) wanted.insert(id.text);
  std::set<std::string> waiting;
  std::vector<DueNumber> joined;
  {
    SqliteStatement page(connection_, kAdding,
                         "select number, ids from {schema}_due where index_id = ?1 and ids is not null "
                         "and due_at <= ?2 and (not_before > ?2 or (not_before > 0 and as_of < ?3))",
                         index.value, due_now(), value_of(origin.as_of));
    while (page.step()) {
      if (std::ranges::find(written, DueNumber{page[0].integer()}, &WrittenPage::number) != written.end())
        continue;
      bool joins = false;
      for (std::string& id : stored_texts(page[1], kDueTable)) {
        if (!wanted.contains(id)) continue;
        waiting.insert(std::move(id));
        joins = true;
      }
      if (joins) joined.push_back({page[0].integer()});
    }
  }
  for (const DueNumber page : joined) join_page(page, origin);
  DocumentIds others;
  std::ranges::copy_if(ids, std::back_inserter(others),
                       [&](const DocumentId& id) { return !waiting.contains(id.text); });
  return others;
}

bool SqliteDue::join_page(DueNumber page, const DueOrigin& origin) {
  const std::optional<std::int64_t> since = origin.since ? std::optional(origin.since->value) : std::nullopt;
  SqliteStatement joined(connection_, kAdding,
                         "update {schema}_due set "
                         "as_of = case when as_of is not null and ?2 is not null then max(as_of, ?2) end, "
                         "since = min(coalesce(since, number), coalesce(?3, number)) "
                         "where number = ?1 and ids is not null returning number",
                         page.value, value_of(origin.as_of), since);
  return joined.step();
}

void SqliteDue::forget(const std::vector<DueNumber>& changes) {
  SqliteStatement(connection_, kFinding,
                  "delete from {schema}_due where number in (select value from json_each(?1))",
                  numbers_array(changes))
      .run();
}

std::vector<IndexId> SqliteDue::take_off(const std::vector<WrittenPage>& pages) {
  constexpr const char* kDoing = "removing from the due list";
  std::vector<IndexId> joined;
  for (const WrittenPage& page : pages) {
    SqliteStatement(connection_, kDoing, "delete from {schema}_due where number = ?1 and as_of is ?2",
                    page.number.value, value_of(page.as_of))
        .run();
    SqliteStatement left(connection_, kDoing,
                         "update {schema}_due set not_before = ?2 where number = ?1 returning index_id",
                         page.number.value, due_now() + kTriedAgainAfter.count());
    while (left.step()) joined.push_back({static_cast<int>(left[0].integer())});
  }
  return joined;
}

std::optional<DueNumber> last_due_change(SqliteConnection& connection, IndexId index) {
  SqliteStatement row(connection, kFinding,
                      "select max(number) from {schema}_due where index_id = ?1 and ids is null",
                      index.value);
  row.step();
  const std::optional<std::int64_t> number = row[0].optional_integer();
  return number ? std::optional(DueNumber{*number}) : std::nullopt;
}

SqliteDueChanges read_due_changes(SqliteConnection& connection, IndexId index, DueNumber up_to) {
  SqliteDueChanges due;
  SqliteStatement row(connection, kFinding,
                      "select number, capture, keys, read_from, read_to, as_of, due_at from {schema}_due "
                      "where index_id = ?1 and ids is null and number <= ?2 order by number",
                      index.value, up_to.value);
  std::int64_t bytes = 0;
  while (bytes < kMostJoinedBytes && row.step()) {
    const bool is_first = due.numbers.empty();
    const std::optional<std::int64_t> to = row[4].optional_integer();
    if (to && !is_first) break;
    const std::optional<DocumentVersion> as_of = version_of(row[5]);
    due.origin.as_of = is_first                    ? as_of
                       : as_of && due.origin.as_of ? std::max(as_of, due.origin.as_of)
                                                   : std::nullopt;
    due.numbers.push_back({row[0].integer()});
    if (is_first) {
      due.origin.since = due.numbers.front();
      due.origin.reason = to ? kManyChanges : kManyDocuments;
      due.due_at = stored_integer(row[6], kDueTable);
    }
    if (to) {
      due.rows = SqliteRows{stored_integer(row[3], kDueTable), *to};
      break;
    }
    bytes += static_cast<std::int64_t>(row[2].text().size());
    due.changes.push_back({{static_cast<int>(stored_integer(row[1], kDueTable))}, values_of(row[2]), false});
  }
  return due;
}

}  // namespace lockstep
