#include "replicator/source/postgres/read/due.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "replicator/source/postgres/read/changes.h"
#include "replicator/source/postgres/read/ids.h"
#include "replicator/source/postgres/read/jobs.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"
#include "replicator/source/postgres/session/stored_value.h"

namespace lockstep {
namespace {

constexpr std::string_view kDueTable = "due";
const Doing kLoading("loading the due list");
const Doing kAdding("adding to the due list");
const Doing kFinding("finding the documents of a large change");

// Of a large transaction, in one transaction of ours: enough rows that a million of them do not take long,
// few enough values for a small memory.
constexpr std::int64_t kRowsAtOnce = 1'000;
constexpr std::int64_t kValuesAtOnce = 5'000;

std::string numbers_literal(const std::vector<DueNumber>& numbers) {
  std::vector<std::string> texts;
  for (const DueNumber number : numbers) texts.push_back(std::to_string(number.value));
  return array_literal(texts);
}

std::vector<DueNumber> numbers_of(const std::vector<WrittenPage>& pages) {
  std::vector<DueNumber> numbers;
  for (const WrittenPage& page : pages) numbers.push_back(page.number);
  return numbers;
}

std::optional<std::int64_t> optional_number(const pqxx::field& field) {
  return field.is_null() ? std::nullopt : std::optional(stored<std::int64_t>(field, kDueTable));
}

std::string literal(std::optional<std::int64_t> number) {
  return number ? std::to_string(*number) : "null";
}

std::string seconds(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::duration<double>(time).count());
}

bool is_any_row_changed(const PostgresIndex& index, const std::vector<CapturedChange>& changes) {
  return std::ranges::any_of(changes, [&](const CapturedChange& change) {
    return change.everything && std::ranges::any_of(index.tracks, [&](const PostgresTrack& track) {
             return track.capture == change.capture;
           });
  });
}

}  // namespace

/// A change, or the common part of changes whose documents are found together.
struct PostgresDue::Found {
  DueNumber number;
  DueNumber last_before;  ///< the pages that the documents may join: up to this one
  std::optional<std::int64_t> as_of = {};
  std::string due_at = {};
  std::optional<PostgresLargeTransaction> transaction = {};
};

std::vector<DueList> load_due(PostgresTransaction& transaction, const PostgresPipeline& pipeline) {
  std::vector<DueList> lists;
  for (const pqxx::row& row : transaction.run(kLoading, postgres_sql("due_lists"), pipeline.id())) {
    lists.push_back(
        {IndexId{row[0].as<int>()}, row[1].as<std::int64_t>(), row[2].as<std::int64_t>(), row[3].as<bool>(),
         DueNumber{row[4].as<std::int64_t>()}, DueNumber{row[5].as<std::int64_t>()},
         std::chrono::milliseconds(static_cast<std::int64_t>(row[6].as<double>() * 1'000)), row[7].c_str()});
  }
  return lists;
}

void PostgresDue::add(IndexId index, const std::vector<CapturedChange>& changes, DocumentVersion as_of) {
  for (const CapturedChange& change : changes) {
    transaction_.run(kAdding,
                     "insert into {schema}.due (index, as_of, reason, capture, keys) "
                     "values ($1, $2, $3, $4, $5)",
                     index.value, as_of.value(), std::string(kManyDocuments), change.capture.value,
                     array_literal(change.values));
  }
}

void PostgresDue::add(IndexId index, const PostgresLargeTransaction& transaction, DocumentVersion as_of) {
  transaction_.run(kAdding,
                   "insert into {schema}.due (index, as_of, reason, transaction, read_to) "
                   "values ($1, $2, $3, $4::xid8, $5)",
                   index.value, as_of.value(), std::string(kManyChanges), std::to_string(transaction.txid),
                   transaction.after);
}

std::int64_t PostgresDue::add_pages(IndexId index, const std::string& ids_query, const DueOrigin& origin) {
  const auto value = [](const auto& number) { return number ? std::optional(number->value) : std::nullopt; };
  const std::optional<std::int64_t> as_of =
      origin.as_of ? std::optional(origin.as_of->value()) : std::nullopt;
  const std::string statement = fill_placeholders(
      postgres_sql("add_due_pages"),
      {{"schema", transaction_.session().schema()},
       {"index", std::to_string(index.value)},
       {"as_of", literal(as_of)},
       {"since", literal(value(origin.since))},
       {"due_at", "clock_timestamp() + make_interval(secs => " + seconds(origin.later) + ")"},
       {"pause", seconds(std::max(origin.pause, origin.later))},
       {"reason", transaction_.quote(transaction_.session().storable(origin.reason))},
       {"may_join", "0"},
       {"documents", std::to_string(kDuePageDocuments)},
       {"ids", ids_query}});
  return transaction_.run_once(kAdding, statement)[0][0].as<std::int64_t>();
}

std::int64_t PostgresDue::add_found(IndexId index, const std::string& ids_query, const Found& origin) {
  if (ids_query.empty()) return 0;
  const std::string statement = fill_placeholders(
      postgres_sql("add_due_pages"),
      {{"schema", transaction_.session().schema()},
       {"index", std::to_string(index.value)},
       {"as_of", literal(origin.as_of)},
       {"since", std::to_string(origin.number.value)},
       {"due_at", transaction_.quote(origin.due_at) + "::timestamptz"},
       {"pause", "0"},
       {"reason", transaction_.quote(std::string(origin.transaction ? kManyChanges : kManyDocuments))},
       {"may_join", std::to_string(origin.last_before.value)},
       {"documents", std::to_string(kDuePageDocuments)},
       {"ids", ids_query}});
  return transaction_.run_once(kFinding, statement)[0][0].as<std::int64_t>();
}

std::vector<FoundDocument> PostgresDue::without_waiting(IndexId index,
                                                        const std::vector<FoundDocument>& documents,
                                                        const DueOrigin& origin,
                                                        const std::vector<WrittenPage>& written) {
  DocumentIds ids;
  for (const FoundDocument& document : documents) ids.push_back(document.id);
  const auto as_of = origin.as_of ? std::optional(origin.as_of->value()) : std::nullopt;
  const auto since = origin.since ? std::optional(origin.since->value) : std::nullopt;
  std::set<std::string> waiting;
  for (const pqxx::row& row :
       transaction_.run(kAdding, postgres_sql("join_waiting_pages"), index.value, ids_literal(ids), as_of,
                        since, numbers_literal(numbers_of(written)))) {
    for (std::string& id : parse_array(row[0].c_str())) waiting.insert(std::move(id));
  }
  std::vector<FoundDocument> others;
  std::ranges::copy_if(documents, std::back_inserter(others),
                       [&](const FoundDocument& document) { return !waiting.contains(document.id.text); });
  return others;
}

NextDue PostgresDue::next(IndexId index, const std::vector<DueNumber>& in_hand) {
  const pqxx::row row = transaction_.run(Doing("reading the due list"), postgres_sql("next_due"), index.value,
                                         numbers_literal(in_hand))[0];
  NextDue next;
  next.has_changes = row[4].as<bool>();
  next.keeps_rows = row[5].as<bool>();
  if (!row[6].is_null())
    next.ready_in = std::chrono::milliseconds(std::max<std::int64_t>(row[6].as<std::int64_t>(), 1));
  if (row[0].is_null()) return next;
  DuePage& page = next.page.emplace();
  page.number = {row[0].as<std::int64_t>()};
  page.since = {row[1].as<std::int64_t>()};
  if (const auto as_of = optional_number(row[2])) page.as_of = DocumentVersion::from_value(*as_of);
  for (std::string& id : parse_array(stored<std::string>(row[3], kDueTable)))
    page.ids.push_back({std::move(id)});
  return next;
}

std::optional<DueNumber> PostgresDue::last_change(IndexId index) {
  const pqxx::result last = transaction_.run(
      kFinding, "select max(number) from {schema}.due where index = $1 and ids is null", index.value);
  if (last[0][0].is_null()) return std::nullopt;
  return DueNumber{last[0][0].as<std::int64_t>()};
}

// A process that finds them at the same time, such as a deposed leader, makes them due once more.
bool PostgresDue::find(const PostgresPipeline& pipeline, const PostgresIndex& index, Search& search,
                       FoundDue& found) {
  const pqxx::result rows = transaction_.run(kFinding, postgres_sql("due_changes"), index.id.value,
                                             search.up_to.value, kMostJoinedBytes);
  if (rows.empty()) return false;
  const DueNumber first{rows[0][0].as<std::int64_t>()};
  if (search.in_hand != first)
    search = {search.up_to,
              first,
              {transaction_.run(kFinding, "select max(number) from {schema}.due")[0][0].as<std::int64_t>()}};
  Found origin{first, search.last_before, optional_number(rows[0][5]), rows[0][6].c_str()};
  if (!rows[0][3].is_null()) {
    origin.transaction = {stored<std::uint64_t>(rows[0][3], kDueTable),
                          stored<std::int64_t>(rows[0][4], kDueTable)};
    find_part(pipeline, index, origin, found);
    return true;
  }
  std::vector<CapturedChange> changes;
  std::vector<DueNumber> numbers;
  for (const pqxx::row& row : rows) {
    numbers.push_back({row[0].as<std::int64_t>()});
    changes.push_back(
        {{stored<int>(row[1], kDueTable)}, parse_array(stored<std::string>(row[2], kDueTable)), false});
    const std::optional<std::int64_t> as_of = optional_number(row[5]);
    origin.as_of = as_of && origin.as_of ? std::max(as_of, origin.as_of) : std::nullopt;
  }
  // In the order in which the resolver finds the ids: it knows which documents lie together.
  found.documents += add_found(index.id, ids_query(transaction_, index, changes), origin);
  forget(numbers);
  return true;
}

// A document may be on two pages, of different parts: each would be looked up among all pages of the others.
void PostgresDue::find_part(const PostgresPipeline& pipeline, const PostgresIndex& index,
                            const Found& transaction, FoundDue& found) {
  const TransactionPart part =
      read_transaction(transaction_, pipeline, *transaction.transaction, kRowsAtOnce, kValuesAtOnce);
  found.unknown_captures.insert(part.changes.unknown_captures.begin(), part.changes.unknown_captures.end());
  if (is_any_row_changed(index, part.changes.captured)) {
    PostgresJobs jobs(transaction_, pipeline.id());
    for (const JobKind kind : {JobKind::kBackfill, JobKind::kSweep}) {
      if (std::optional<Job> added = jobs.add(index.id, kind, std::string(kEverythingChanged)))
        found.added.push_back(*std::move(added));
    }
  }
  found.documents += add_found(index.id, ids_query(transaction_, index, part.changes.captured), transaction);
  if (part.changes.more) {
    transaction_.run(kFinding, "update {schema}.due set read_to = $2 where number = $1 and read_to = $3",
                     transaction.number.value, part.last_id, transaction.transaction->after);
  } else {
    forget({transaction.number});
  }
}

void PostgresDue::forget(const std::vector<DueNumber>& changes) {
  transaction_.run(kFinding, "delete from {schema}.due where number = any($1::bigint[])",
                   numbers_literal(changes));
}

std::vector<IndexId> PostgresDue::take_off(const std::vector<WrittenPage>& pages) {
  std::vector<IndexId> joined;
  if (pages.empty()) return joined;
  std::string versions;
  for (const WrittenPage& page : pages) {
    versions += versions.empty() ? "{" : ",";
    versions += literal(page.as_of ? std::optional(page.as_of->value()) : std::nullopt);
  }
  const double pause = std::chrono::duration<double>(kTriedAgainAfter).count();
  for (const pqxx::row& row :
       transaction_.run(Doing("removing from the due list"), postgres_sql("take_off_pages"),
                        numbers_literal(numbers_of(pages)), versions + "}", pause)) {
    joined.push_back({row[0].as<int>()});
  }
  return joined;
}

}  // namespace lockstep
