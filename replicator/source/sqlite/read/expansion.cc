#include "replicator/source/sqlite/read/expansion.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/read/ids.h"
#include "replicator/source/sqlite/read/jobs.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/time_limit.h"
#include "replicator/source/sqlite/session/transaction.h"

namespace lockstep {
namespace {

constexpr const char* kDoing = "making the list of a large change";
constexpr const char* kCreateGathered =
    "create temp table if not exists lockstep_gathered (number integer primary key, id text unique)";

// In one snapshot: few enough for a small memory, and for a -wal that can be rewound in between.
constexpr std::int64_t kValuesAtOnce = 10'000;

// In one transaction that holds the application's write lock.
constexpr std::int64_t kDocumentsAtOnce = kFanOutPageDocuments;

// What a job keeps of its changes, in the form in which changes have their values.
Values values_of(const SqliteColumn& keys) {
  const std::string text = stored_text(keys, "job_change");
  try {
    Values values;
    for (const nlohmann::json& key : nlohmann::json::parse(text)) values.push_back(key.dump());
    return values;
  } catch (const nlohmann::json::exception&) {
    throw unfit_value("lockstep's table job_change", "keys", text, "a JSON array of values");
  }
}

}  // namespace

SqliteExpansion::~SqliteExpansion() {
  if (!list_.valid()) return;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
  }
  // A statement may begin just after an interruption, so once is not enough.
  while (list_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const std::lock_guard lock(mutex_);
    if (connection_) connection_->interrupt();
  }
}

bool SqliteExpansion::is_cancelled() {
  const std::lock_guard lock(mutex_);
  return is_cancelled_;
}

std::optional<FanOutList> SqliteExpansion::advance(const SqlitePipeline& pipeline, const SqliteIndex& index,
                                                   JobId job) {
  if (list_.valid()) {
    if (list_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
    made_.emplace(job_, list_.get());
  }
  if (auto made = made_.extract(job)) return std::move(made.mapped());
  job_ = job;
  list_ =
      std::async(std::launch::async, [this, pipeline, index, job] { return expand(pipeline, index, job); });
  return std::nullopt;
}

FanOutList SqliteExpansion::expand(const SqlitePipeline& pipeline, const SqliteIndex& index, JobId job) {
  if (!connection_) {
    auto connection = std::make_unique<SqliteConnection>(source_);
    connection->execute(kDoing, kCreateGathered);
    const std::lock_guard lock(mutex_);
    connection_ = std::move(connection);
  }
  FanOutList list;
  Begun begun = begin(job);
  list.documents = begun.total.value_or(0);
  if (begun.is_gone || begun.total) return list;
  std::int64_t gathered = 0;
  list.documents = begun.documents;
  if (!begun.rows) gather_changes(pipeline, index, job);
  for (bool more = true; more;) {
    if (begun.rows) begun.rows = gather_rows(pipeline, index, *begun.rows, list);
    more = begun.rows.has_value();
    const std::int64_t documents = write_pages(job, begun.documents, gathered);
    if (is_cancelled()) break;  // perhaps before everything was gathered
    gathered = documents - begun.documents;
    list.documents = documents;
    SqliteWrite write(*connection_, kDoing);
    if (more) {
      SqliteStatement(*connection_, kDoing, "update {schema}_job set read_from = ?2 where id = ?1", job.value,
                      begun.rows->behind)
          .run();
    } else {
      complete_fan_out(*connection_, job, documents);
    }
    write.commit(kDoing);
  }
  return list;
}

// Of the changes that a job keeps the list is made anew: nothing says how far its pages came. Of rows it goes
// on, and a document that was in it already may be in it twice: then it is written twice.
SqliteExpansion::Begun SqliteExpansion::begin(JobId job) {
  connection_->execute(kDoing, "delete from temp.lockstep_gathered");
  Begun begun;
  SqliteWrite write(*connection_, kDoing);
  {
    SqliteStatement row(*connection_, kDoing,
                        "select total, read_from, read_to from {schema}_job where id = ?1", job.value);
    if (!row.step()) {
      begun.is_gone = true;
      return begun;
    }
    begun.total = row[0].optional_integer();
    if (!row[2].is_null()) begun.rows = SqliteRows{stored_integer(row[1], "job"), row[2].integer()};
  }
  if (begun.total) return begun;
  if (!begun.rows) {
    SqliteStatement(*connection_, kDoing, "delete from {schema}_job_page where job = ?1", job.value).run();
    write.commit(kDoing);
    return begun;
  }
  SqliteStatement last(*connection_, kDoing, "select max(number) from {schema}_job_page where job = ?1",
                       job.value);
  last.step();
  begun.documents = last[0].optional_integer().value_or(0);
  return begun;
}

void SqliteExpansion::gather_changes(const SqlitePipeline& pipeline, const SqliteIndex& index, JobId job) {
  const SqliteSnapshot snapshot(*connection_, kDoing);
  std::vector<CapturedChange> changes;
  SqliteStatement rows(*connection_, kDoing, "select capture, keys from {schema}_job_change where job = ?1",
                       job.value);
  while (rows.step()) {
    changes.push_back({{static_cast<int>(rows[0].integer())}, values_of(rows[1]), false});
  }
  gather(pipeline, index, changes);
}

std::optional<SqliteRows> SqliteExpansion::gather_rows(const SqlitePipeline& pipeline,
                                                       const SqliteIndex& index, const SqliteRows& rows,
                                                       FanOutList& list) {
  const SqliteSnapshot snapshot(*connection_, kDoing);
  const Changes changes = read_rows(*connection_, pipeline, rows, kValuesAtOnce);
  list.unknown_captures.insert(changes.unknown_captures.begin(), changes.unknown_captures.end());
  gather(pipeline, index, changes.captured);
  if (!changes.more) return std::nullopt;
  return SqliteRows{id_of(changes.next), rows.up_to};
}

void SqliteExpansion::gather(const SqlitePipeline& pipeline, const SqliteIndex& index,
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

std::int64_t SqliteExpansion::write_pages(JobId job, std::int64_t before, std::int64_t written) {
  while (!is_cancelled()) {
    DocumentIds ids;
    {
      SqliteStatement rows(*connection_, kDoing,
                           "select id from temp.lockstep_gathered where number > ?1 order by number limit ?2",
                           written, kDocumentsAtOnce);
      while (rows.step()) ids.push_back({std::string(rows[0].text())});
    }
    if (ids.empty()) break;
    written += static_cast<std::int64_t>(ids.size());
    SqliteWrite write(*connection_, kDoing);
    add_fan_out_page(*connection_, job, before + written, ids);
    write.commit(kDoing);
  }
  return before + written;
}

}  // namespace lockstep
