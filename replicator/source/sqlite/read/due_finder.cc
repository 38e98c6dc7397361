#include "replicator/source/sqlite/read/due_finder.h"

#include <chrono>
#include <utility>

#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/read/ids.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/time_limit.h"
#include "replicator/source/sqlite/session/transaction.h"

namespace lockstep {
namespace {

constexpr const char* kDoing = "finding the documents of a large change";
constexpr const char* kCreateGathered =
    "create temp table if not exists lockstep_gathered (number integer primary key, id text unique)";

// In one snapshot: few enough for a small memory, and for a -wal that can be rewound in between.
constexpr std::int64_t kValuesAtOnce = 10'000;

// In one transaction that holds the application's write lock.
constexpr std::int64_t kDocumentsAtOnce = kDuePageDocuments;

}  // namespace

SqliteDueFinder::~SqliteDueFinder() {
  {
    const MutexLock lock(mutex_);
    is_cancelled_ = true;
  }
  // A statement may begin just after an interruption, so once is not enough.
  while (searches_.is_at_work_after(std::chrono::milliseconds(50))) {
    const MutexLock lock(mutex_);
    if (interrupted_ != nullptr) interrupted_->interrupt();
  }
}

bool SqliteDueFinder::is_cancelled() {
  const MutexLock lock(mutex_);
  return is_cancelled_;
}

std::optional<FoundDue> SqliteDueFinder::advance(const SqlitePipeline& pipeline, const SqliteIndex& index) {
  return searches_.advance(index.id, [this, pipeline, index] { return find(pipeline, index); });
}

FoundDue SqliteDueFinder::find(const SqlitePipeline& pipeline, const SqliteIndex& index) {
  if (!connection_) {
    auto connection = std::make_unique<SqliteConnection>(source_);
    connection->execute(kDoing, kCreateGathered);
    connection_ = std::move(connection);
    const MutexLock lock(mutex_);
    interrupted_ = connection_.get();
  }
  FoundDue found;
  const std::optional<DueNumber> up_to = last_due_change(*connection_, index.id);
  while (up_to && !is_cancelled() && find_oldest(pipeline, index, *up_to, found)) continue;
  return found;
}

// A search that ends between the pages and the last step leaves documents that the next one finds again.
bool SqliteDueFinder::find_oldest(const SqlitePipeline& pipeline, const SqliteIndex& index, DueNumber up_to,
                                  FoundDue& found) {
  connection_->execute(kDoing, "delete from temp.lockstep_gathered");
  SqliteDueChanges due;
  std::optional<SqliteRows> left;
  {
    const SqliteSnapshot snapshot(*connection_, kDoing);
    due = read_due_changes(*connection_, index.id, up_to);
    if (due.numbers.empty()) return false;
    if (due.rows) {
      left = gather_rows(pipeline, index, *due.rows, found);
    } else {
      gather(pipeline, index, due.changes);
    }
  }
  if (in_hand_ != due.numbers.front()) {
    in_hand_ = due.numbers.front();
    SqliteStatement last(*connection_, kDoing, "select max(number) from {schema}_due");
    last.step();
    last_before_ = {last[0].integer()};
  }
  const std::int64_t documents = join_pages(index, due) + write_pages(index, due);
  if (is_cancelled()) return false;  // perhaps before everything was gathered
  found.documents += documents;
  SqliteWrite write(*connection_, kDoing);
  if (left) {
    SqliteStatement(*connection_, kDoing, "update {schema}_due set read_from = ?2 where number = ?1",
                    due.numbers.front().value, left->behind)
        .run();
  } else {
    SqliteDue(*connection_).forget(due.numbers);
  }
  write.commit(kDoing);
  return true;
}

std::optional<SqliteRows> SqliteDueFinder::gather_rows(const SqlitePipeline& pipeline,
                                                       const SqliteIndex& index, const SqliteRows& rows,
                                                       FoundDue& found) {
  const Changes changes = read_rows(*connection_, pipeline, rows, kValuesAtOnce);
  found.unknown_captures.insert(changes.unknown_captures.begin(), changes.unknown_captures.end());
  gather(pipeline, index, changes.captured);
  if (!changes.more) return std::nullopt;
  return SqliteRows{id_of(changes.next), rows.up_to};
}

void SqliteDueFinder::gather(const SqlitePipeline& pipeline, const SqliteIndex& index,
                             const std::vector<CapturedChange>& changes) {
  SqliteStatement insert(*connection_, kDoing,
                         "insert or ignore into temp.lockstep_gathered (id) values (?1)");
  try {
    reading_view(index, [&] {
      for_each_id(*connection_, pipeline, index, changes, [&](const std::string& id) {
        insert.reset();
        insert.bind(1, id);
        insert.run();
        return true;
      });
    });
  } catch (const SqliteError& error) {
    if (!is_interrupted(error) || !is_cancelled()) throw;
  }
}

// Those that are already on a page that no pause delays, that is older than the search, and whose `as_of`
// shows that to a process that has read it before.
std::int64_t SqliteDueFinder::join_pages(const SqliteIndex& index, const SqliteDueChanges& due) {
  std::vector<DueNumber> pages;
  {
    SqliteStatement page(*connection_, kDoing,
                         "select d.number from {schema}_due as d where d.index_id = ?1 and d.number <= ?2 "
                         "and d.as_of is not null and d.not_before = 0 and exists (select 1 from "
                         "json_each(d.ids) as i join temp.lockstep_gathered as g on g.id = i.value)",
                         index.id.value, last_before_.value);
    while (page.step()) pages.push_back({page[0].integer()});
  }
  std::int64_t joined = 0;
  for (const DueNumber page : pages) {
    if (is_cancelled()) break;
    SqliteWrite write(*connection_, kDoing);
    if (SqliteDue(*connection_).join_page(page, due.origin)) {
      SqliteStatement left(*connection_, kDoing,
                           "delete from temp.lockstep_gathered where id in (select i.value from {schema}_due "
                           "as d, json_each(d.ids) as i where d.number = ?1) returning number",
                           page.value);
      while (left.step()) ++joined;
    }
    write.commit(kDoing);
  }
  return joined;
}

std::int64_t SqliteDueFinder::write_pages(const SqliteIndex& index, const SqliteDueChanges& due) {
  std::int64_t written = 0;
  std::int64_t last = 0;
  while (!is_cancelled()) {
    DocumentIds ids;
    {
      SqliteStatement rows(*connection_, kDoing,
                           "select id, number from temp.lockstep_gathered where number > ?1 "
                           "order by number limit ?2",
                           last, kDocumentsAtOnce);
      while (rows.step()) {
        ids.push_back({std::string(rows[0].text())});
        last = rows[1].integer();
      }
    }
    if (ids.empty()) break;
    written += static_cast<std::int64_t>(ids.size());
    SqliteWrite write(*connection_, kDoing);
    SqliteDue(*connection_).add_page(index.id, ids, due.origin, due.due_at);
    write.commit(kDoing);
  }
  return written;
}

}  // namespace lockstep
