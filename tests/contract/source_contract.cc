#include "tests/contract/source_contract.h"

#include <algorithm>
#include <random>
#include <thread>

#include "replicator/error.h"
#include "tests/support/eventually.h"
#include "tests/support/random_seed.h"

namespace lockstep {
namespace {

constexpr std::chrono::seconds kPatience{30};

}  // namespace

SourceContract::SourceContract() : world_(GetParam()()), writer_(world_->writer()) {}

void SourceContract::lead() {
  source_ = world_->open();
  pipeline_ = source_->load_pipeline();
  // The server notices a moment later that the last leader has gone.
  ASSERT_TRUE(support::wait_until([&] { return source_->try_lead(); }, kPatience));
  epoch_ = source_->raise_epoch(Epoch{}, {});
  position_ = source_->load_position();
}

std::map<std::string, std::string> SourceContract::render(SourceTransaction& transaction, const Values& ids) {
  std::map<std::string, std::string> documents;
  const Values left_over = transaction.render(pipeline_.indices.at(0), ids, std::int64_t{1} << 40,
                                              std::nullopt, [&](const RenderedDocument& document) {
                                                documents[std::string(document.id)] =
                                                    document.json ? std::string(*document.json) : "none";
                                              });
  EXPECT_TRUE(left_over.empty());
  return documents;
}

SourceContract::Chunk SourceContract::step(std::int64_t max_values) {
  const auto transaction = source_->begin();
  Chunk chunk;
  chunk.changes = transaction->read_changes(position_, max_values);
  const auto ids = transaction->resolve(pipeline_.indices.at(0), chunk.changes.captured, 1'000'000);
  chunk.documents = render(*transaction, *ids);
  position_ = chunk.changes.next;
  Acknowledged acknowledged;
  acknowledged.position = position_;
  transaction->save(epoch_, acknowledged);
  transaction->commit();
  return chunk;
}

std::map<std::string, int> SourceContract::drain(std::int64_t max_values) {
  std::map<std::string, int> reported;
  for (bool more = true; more;) {
    const Chunk chunk = step(max_values);
    for (const CapturedChange& change : chunk.changes.captured) {
      for (const std::string& value : change.values) ++reported[value];
    }
    more = chunk.changes.more;
  }
  return reported;
}

namespace {

std::string insert(int id, int n = 0) {
  return "insert into thing values (" + std::to_string(id) + ", " + std::to_string(n) + ")";
}

using Reported = std::map<std::string, int>;

// --- S1 ---

TEST_P(SourceContract, S1_WhatCommitsIsReportedOnceAndNotAgain) {
  lead();
  writer_->execute(insert(1));
  writer_->execute(insert(2));
  EXPECT_EQ(drain(), (Reported{{"1", 1}, {"2", 1}}));
  EXPECT_EQ(drain(), Reported{});
  writer_->execute("update thing set n = 5 where id = 1");
  EXPECT_EQ(drain(), (Reported{{"1", 1}}));
}

TEST_P(SourceContract, S1_WhatIsRolledBackIsNeverReported) {
  lead();
  writer_->execute("begin");
  writer_->execute(insert(1));
  writer_->execute("rollback");
  writer_->execute("begin");
  writer_->execute(insert(2));
  writer_->execute("savepoint a");
  writer_->execute(insert(3));
  writer_->execute("rollback to savepoint a");
  writer_->execute("commit");
  EXPECT_EQ(drain(), (Reported{{"2", 1}}));
}

TEST_P(SourceContract, S1_ALateCommitIsReportedAfterManyBatches) {
  if (!world_->has_concurrent_writers()) GTEST_SKIP() << "one writer at a time";
  lead();
  const auto late = world_->writer();
  late->execute("begin");
  late->execute(insert(1000));
  for (int i = 1; i <= 5; ++i) {
    writer_->execute(insert(i));
    EXPECT_EQ(drain(), (Reported{{std::to_string(i), 1}}));
    late->execute("savepoint s");
    late->execute(insert(1000 + i));
  }
  late->execute("commit");
  EXPECT_EQ(drain(2).size(), 6U);
  EXPECT_EQ(drain(), Reported{});
}

TEST_P(SourceContract, S1_WhatWasNotSavedIsReportedAgainToTheNextOne) {
  lead();
  writer_->execute(insert(1));
  step();
  writer_->execute(insert(2));
  {
    const auto transaction = source_->begin();
    EXPECT_EQ(transaction->read_changes(position_, 1000).rows, 1);
  }
  source_.reset();
  lead();
  EXPECT_EQ(drain(), (Reported{{"2", 1}}));
}

TEST_P(SourceContract, S1_ALargeTransactionComesInChunksThatTogetherAreWhole) {
  lead();
  writer_->execute("begin");
  for (int i = 1; i <= 300; ++i) writer_->execute(insert(i));
  writer_->execute("commit");
  Reported reported;
  int chunks = 0;
  for (bool more = true; more; ++chunks) {
    const Chunk chunk = step(50);
    std::int64_t values = 0;
    for (const CapturedChange& change : chunk.changes.captured) {
      for (const std::string& value : change.values) ++reported[value];
      values += static_cast<std::int64_t>(change.values.size());
    }
    EXPECT_LE(values, 100);
    more = chunk.changes.more;
    if (chunks == 2) {  // a new leader goes on in the middle
      source_.reset();
      lead();
    }
  }
  EXPECT_GE(chunks, 6);
  EXPECT_EQ(reported.size(), 300U);
  EXPECT_TRUE(
      std::all_of(reported.begin(), reported.end(), [](const auto& entry) { return entry.second == 1; }));
}

// Transactions that begin, write, and end at random, read at random moments: each value that was committed is
// in exactly one chunk, each that was rolled back in none.
TEST_P(SourceContract, S1_RandomlyOverlappingTransactionsAreReportedExactlyOnce) {
  lead();
  std::mt19937_64 random(support::random_seed());
  const auto pick = [&](int high) { return std::uniform_int_distribution<int>(0, high)(random); };
  struct Open {
    std::unique_ptr<SourceWriter> writer;
    std::vector<std::string> written;
    bool open = false;
  };
  std::vector<Open> writers(world_->has_concurrent_writers() ? 6 : 1);
  for (Open& writer : writers) writer.writer = world_->writer();
  Reported expected;
  Reported reported;
  int next = 0;
  for (int i = 0; i < 1500; ++i) {
    Open& writer = writers[static_cast<std::size_t>(pick(static_cast<int>(writers.size()) - 1))];
    if (!writer.open) {
      writer.writer->execute("begin");
      writer.open = true;
    } else if (pick(2) > 0) {
      writer.writer->execute(insert(++next));
      writer.written.push_back(std::to_string(next));
    } else {
      const bool commit = pick(3) > 0;
      writer.writer->execute(commit ? "commit" : "rollback");
      if (commit) {
        for (const std::string& value : writer.written) expected[value] = 1;
      }
      writer.written.clear();
      writer.open = false;
    }
    if (pick(9) == 0) {
      for (const auto& [value, count] : drain(1 + pick(20))) reported[value] += count;
    }
    if (pick(99) == 0) {
      source_.reset();
      lead();
    }
  }
  for (Open& writer : writers) {
    if (writer.open) writer.writer->execute("rollback");
  }
  for (const auto& [value, count] : drain()) reported[value] += count;
  EXPECT_EQ(reported, expected);
}

TEST_P(SourceContract, S1_OldAndNewValuesOfAChangedRowAreReported) {
  lead();
  writer_->execute(insert(1));
  writer_->execute(insert(2));
  writer_->execute("insert into part values (1, 1)");
  drain();
  writer_->execute("update part set thing_id = 2");
  EXPECT_EQ(drain(), (Reported{{"1", 1}, {"2", 1}}));
  writer_->execute("update thing set id = 3 where id = 1");
  EXPECT_EQ(drain(), (Reported{{"1", 1}, {"3", 1}}));
}

// --- S2, S3 ---

TEST_P(SourceContract, S2_DocumentsComeFromOneSnapshotThatHasTheChange) {
  lead();
  writer_->execute(insert(1, 5));
  const auto transaction = source_->begin();
  const Changes changes = transaction->read_changes(position_, 1000);
  const auto ids = transaction->resolve(pipeline_.indices.at(0), changes.captured, 1000);
  ASSERT_TRUE(ids);
  if (world_->has_concurrent_writers()) {
    writer_->execute("update thing set n = 6 where id = 1");
    writer_->execute("insert into part values (7, 1)");
  }
  const auto documents = render(*transaction, *ids);
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_NE(documents.at("1").find("5"), std::string::npos) << documents.at("1");
  EXPECT_EQ(documents.at("1").find("7"), std::string::npos) << documents.at("1");
}

TEST_P(SourceContract, S2_DocumentsThatTheViewDoesNotHaveAreReportedAsNone) {
  lead();
  writer_->execute(insert(1));
  writer_->execute(insert(2));
  drain();
  writer_->execute("delete from thing where id = 1");
  writer_->execute("update thing set n = -1 where id = 2");
  EXPECT_EQ(step().documents, (std::map<std::string, std::string>{{"1", "none"}, {"2", "none"}}));
}

TEST_P(SourceContract, S3_WhatATransactionSawTheNextOneSeesToo) {
  lead();
  writer_->execute(insert(1, 0));
  int before = 0;
  for (int i = 1; i <= 50; ++i) {
    writer_->execute("update thing set n = " + std::to_string(i));
    const auto documents = step().documents;
    ASSERT_EQ(documents.size(), 1U);
    const std::string& json = documents.at("1");
    const int n = std::stoi(json.substr(json.find(':') + 1));
    EXPECT_GE(n, i);
    EXPECT_GE(n, before);
    before = n;
  }
}

// --- S4 ---

TEST_P(SourceContract, S4_WhatWasSeenIsDurableAfterASaveIsCommitted) {
  lead();
  for (int i = 1; i <= 20; ++i) {
    world_->commit_lazily(insert(i));
    EXPECT_EQ(step().documents.size(), 1U);
    EXPECT_TRUE(world_->is_durable());
  }
}

TEST_P(SourceContract, S4_WhatMayBeShownWithoutACommitIsDurable) {
  lead();
  int may_be_shown = 0;
  for (int i = 1; i <= 100; ++i) {
    if (i % 2 == 0) {
      writer_->execute(insert(i));
    } else {
      world_->commit_lazily(insert(i));
    }
    const auto transaction = source_->begin();
    EXPECT_EQ(transaction->read_changes(position_, 1000).rows, i);
    if (!transaction->may_be_shown(epoch_)) continue;
    ++may_be_shown;
    EXPECT_TRUE(world_->is_durable());
  }
  EXPECT_GT(may_be_shown, 0);
}

TEST_P(SourceContract, S4_WhatWasWrittenNeedsACommit) {
  lead();
  writer_->execute(insert(1));
  const auto transaction = source_->begin();
  transaction->read_changes(position_, 1000);
  transaction->add_job(pipeline_.indices.at(0).id, JobKind::kComparison, "a test");
  EXPECT_FALSE(transaction->may_be_shown(epoch_));
}

// --- S5 ---

TEST_P(SourceContract, S5_OneLeadsAtATime) {
  lead();
  const auto other = world_->open();
  other->load_pipeline();
  EXPECT_FALSE(other->try_lead());
  EXPECT_TRUE(other->is_led());
  source_.reset();
  EXPECT_TRUE(support::wait_until([&] { return other->try_lead(); }, kPatience));
}

TEST_P(SourceContract, S5_AnEpochThatHasPassedCanSaveNothing) {
  lead();
  const Epoch old = epoch_;
  source_.reset();
  lead();
  EXPECT_GT(epoch_, old);
  writer_->execute(insert(1));
  Acknowledged acknowledged;
  {
    const auto transaction = source_->begin();
    acknowledged.position = transaction->read_changes(position_, 1000).next;
    EXPECT_THROW(transaction->save(old, acknowledged), Deposed);
  }
  EXPECT_EQ(source_->load_position(), position_) << "the old leader has moved the position";
  EXPECT_EQ(drain(), (Reported{{"1", 1}}));
}

TEST_P(SourceContract, S5_AnEpochThatHasPassedMayShowNothing) {
  lead();
  const auto other = world_->open();
  other->load_pipeline();
  {
    const auto before = source_->begin();
    before->place();
    other->raise_epoch({}, {});
    EXPECT_NO_THROW(before->may_be_shown(epoch_)) << "its snapshot is older than any of the next leader's";
  }
  EXPECT_THROW(source_->begin()->may_be_shown(epoch_), Deposed);
}

TEST_P(SourceContract, S5_AnEpochIsAboveWhatElasticsearchHasSeen) {
  lead();
  EXPECT_GT(source_->raise_epoch(Epoch{epoch_.value + 1000}, {}).value, epoch_.value + 1000);
}

// --- the rest of what the pipeline takes for granted ---

TEST_P(SourceContract, ResolvingStopsAtTheLimit) {
  lead();
  for (int i = 1; i <= 20; ++i) writer_->execute(insert(i));
  const auto transaction = source_->begin();
  const Changes changes = transaction->read_changes(position_, 1000);
  EXPECT_FALSE(transaction->resolve(pipeline_.indices.at(0), changes.captured, 19));
  EXPECT_EQ(transaction->resolve(pipeline_.indices.at(0), changes.captured, 20)->size(), 20U);
}

TEST_P(SourceContract, RenderingStopsAtTheByteLimitAndReturnsTheRest) {
  lead();
  Values ids;
  for (int i = 1; i <= 20; ++i) {
    writer_->execute(insert(i));
    ids.push_back(std::to_string(i));
  }
  const auto transaction = source_->begin();
  std::set<std::string> rendered;
  int rounds = 0;
  for (Values rest = ids; !rest.empty(); ++rounds) {
    rest = transaction->render(pipeline_.indices.at(0), rest, 1, std::nullopt,
                               [&](const RenderedDocument& document) { rendered.emplace(document.id); });
    ASSERT_LT(rounds, 30);
  }
  EXPECT_EQ(rendered.size(), 20U);
  EXPECT_GT(rounds, 1);
}

TEST_P(SourceContract, PagesOfTheViewAreInOrderAndComplete) {
  lead();
  for (int i = 1; i <= 25; ++i) writer_->execute(insert(i * 7 % 26));
  const auto transaction = source_->begin();
  std::vector<std::string> seen;
  std::optional<std::string> after;
  for (bool end = false; !end;) {
    const auto page =
        transaction->render_page(pipeline_.indices.at(0), after, 4, 1 << 20, std::nullopt,
                                 [&](const RenderedDocument& document) { seen.emplace_back(document.id); });
    end = page.end;
    if (page.last) after = page.last;
    ASSERT_LE(seen.size(), 25U);
  }
  ASSERT_EQ(seen.size(), 25U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end(),
                             [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); }));
}

TEST_P(SourceContract, AFanOutJobIsKeptUntilItIsFinished) {
  lead();
  for (int i = 1; i <= 20; ++i) writer_->execute(insert(i));
  Job job;
  {
    const auto transaction = source_->begin();
    const Changes changes = transaction->read_changes(position_, 1000);
    job = transaction->add_fan_out(pipeline_.indices.at(0), changes.captured);
    Acknowledged acknowledged;
    acknowledged.position = changes.next;
    transaction->save(epoch_, acknowledged);
    transaction->commit();
  }
  source_.reset();
  lead();
  const auto same = [&](const Job& other) { return other.id == job.id; };
  const std::vector<Job> jobs = source_->load_jobs();
  ASSERT_EQ(std::count_if(jobs.begin(), jobs.end(), same), 1);
  EXPECT_FALSE(std::find_if(jobs.begin(), jobs.end(), same)->total);
  EXPECT_TRUE(
      support::wait_until([&] { return source_->expand(pipeline_.indices.at(0), job) == 20; }, kPatience));
  EXPECT_TRUE(
      support::wait_until([&] { return source_->expand(pipeline_.indices.at(0), job) == 20; }, kPatience))
      << "found once";
  std::set<std::string> ids;
  std::optional<std::string> after;
  for (bool end = false; !end;) {
    const auto transaction = source_->begin();
    const auto page = transaction->job_page(job, after, 6);
    ids.insert(page.ids.begin(), page.ids.end());
    after = page.position;
    end = page.end;
    Acknowledged acknowledged;
    acknowledged.jobs.push_back(
        {job.id, JobKind::kFanOut, page.position, static_cast<std::int64_t>(page.ids.size()), page.end});
    transaction->save(epoch_, acknowledged);
    transaction->commit();
  }
  EXPECT_EQ(ids.size(), 20U);
  const std::vector<Job> left = source_->load_jobs();
  EXPECT_EQ(std::count_if(left.begin(), left.end(), same), 0);
}

TEST_P(SourceContract, LargeChangesJoinAFanOutThatNobodyHasBegunToExpand) {
  lead();
  const AppliedIndex& index = pipeline_.indices.at(0);
  const auto change_of = [&](int id) {
    writer_->execute(insert(id));
    const auto transaction = source_->begin();
    const Changes changes = transaction->read_changes(position_, 1000);
    const Job job = transaction->add_fan_out(index, changes.captured);
    Acknowledged acknowledged;
    acknowledged.position = position_ = changes.next;
    transaction->save(epoch_, acknowledged);
    transaction->commit();
    return job;
  };
  const auto expanded = [&](const Job& job, std::int64_t documents) {
    return support::wait_until([&] { return source_->expand(index, job) == documents; }, kPatience);
  };
  const Job first = change_of(1);
  EXPECT_EQ(change_of(2).id, first.id);
  ASSERT_TRUE(expanded(first, 2));
  writer_->execute("delete from thing");
  const Job second = change_of(1);
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(second.behind, first.id) << "both are of the row with the key 1";
  const Job other = change_of(3);
  EXPECT_NE(other.id, second.id) << "it need not wait for the first one";
  EXPECT_FALSE(other.behind);
  writer_->execute("delete from thing");
  EXPECT_EQ(change_of(1).id, second.id);
  const std::vector<Job> jobs = source_->load_jobs();
  const auto stored =
      std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return job.id == second.id; });
  ASSERT_NE(stored, jobs.end());
  EXPECT_EQ(stored->behind, first.id);
}

TEST_P(SourceContract, AFanOutIsReadInPagesOfAnySize) {
  lead();
  writer_->execute("insert into thing select i, 0 from generate_series(1, 4500) as i");
  Job job;
  {
    const auto transaction = source_->begin();
    const Changes changes = transaction->read_changes(position_, 10'000);
    job = transaction->add_fan_out(pipeline_.indices.at(0), changes.captured);
    Acknowledged acknowledged;
    transaction->save(epoch_, acknowledged);
    transaction->commit();
  }
  ASSERT_TRUE(
      support::wait_until([&] { return source_->expand(pipeline_.indices.at(0), job) == 4500; }, kPatience));
  for (const std::int64_t limit : {700, 2000, 5000}) {
    std::set<std::string> ids;
    std::optional<std::string> after;
    for (bool end = false; !end;) {
      const auto page = source_->begin()->job_page(job, after, limit);
      ASSERT_LE(page.ids.size(), static_cast<std::size_t>(limit));
      ASSERT_FALSE(page.ids.empty());
      for (const std::string& id : page.ids) EXPECT_TRUE(ids.insert(id).second) << id << " twice";
      after = page.position;
      end = page.end;
    }
    EXPECT_EQ(ids.size(), 4500U);
  }
}

TEST_P(SourceContract, ASaveTellsWhichDeadLettersAreNew) {
  lead();
  const int index = pipeline_.indices.at(0).id;
  const auto save = [&](std::vector<std::string> ids, std::int64_t counter) {
    Acknowledged acknowledged;
    for (std::string& id : ids)
      acknowledged.refused.push_back(
          {index, std::move(id), "", DocumentVersion(epoch_, counter), 400, "type", ""});
    const auto transaction = source_->begin();
    std::vector<std::size_t> fresh = transaction->save(epoch_, acknowledged);
    transaction->commit();
    return fresh;
  };
  using Positions = std::vector<std::size_t>;
  EXPECT_EQ(save({"1", "2", "1"}, 1), (Positions{0, 1}));
  EXPECT_EQ(save({"2", "3", "1"}, 2), (Positions{1}));
  EXPECT_EQ(save({"3"}, 3), Positions{});
}

TEST_P(SourceContract, DeadLettersAreFoundCountedAndDiscardedByFilter) {
  lead();
  const int index = pipeline_.indices.at(0).id;
  {
    Acknowledged acknowledged;
    for (const char* id : {"1", "2", "3", "4"}) {
      acknowledged.refused.push_back({index, id, "", DocumentVersion(epoch_, 1), 400,
                                      std::string("type_of_") + id, "field [Price] of " + std::string(id)});
    }
    acknowledged.refused.push_back(
        {index, "4", "a routing", DocumentVersion(epoch_, 1), 413, "too_large", "by far"});
    const auto transaction = source_->begin();
    transaction->save(epoch_, acknowledged);
    transaction->commit();
  }
  const auto filter = [&](Values ids, std::string error, std::string since, std::string until) {
    return DeadLetterFilter{{index}, std::move(ids), std::move(error), std::move(since), std::move(until)};
  };
  const auto count = [&](const DeadLetterFilter& chosen) { return source_->count_dead_letters(chosen); };
  EXPECT_EQ(count(filter({}, "", "", "")), 5);
  EXPECT_EQ(count(DeadLetterFilter{}), 0) << "of no index";
  EXPECT_EQ(count(filter({"1", "4", "nobody's"}, "", "", "")), 3);
  EXPECT_EQ(count(filter({}, "TYPE_of_2", "", "")), 1);
  EXPECT_EQ(count(filter({}, "[price]", "", "")), 4);
  EXPECT_EQ(count(filter({}, "type_of", "", "")), 0) << "an error type counts as a whole";
  const auto an_hour_ago = source_->point_in_time("1h");
  const auto now = source_->point_in_time("now");
  ASSERT_TRUE(an_hour_ago && now);
  EXPECT_EQ(count(filter({}, "", *an_hour_ago, "")), 5);
  EXPECT_EQ(count(filter({}, "", "", *an_hour_ago)), 0);
  EXPECT_EQ(count(filter({}, "", *an_hour_ago, *now)), 5);
  EXPECT_TRUE(source_->point_in_time("2026-01-31T12:00:00Z"));
  for (const char* wrong : {"", "nonsense", "2026-13-01", "2 hour glasses"})
    EXPECT_FALSE(source_->point_in_time(wrong)) << wrong;

  std::vector<std::string> found;
  std::optional<DeadLetter> last;
  for (bool more = true; more;) {
    const auto page = source_->find_dead_letters(filter({}, "", "", ""), last, 2);
    more = page.size() == 2;
    for (const StoredDeadLetter& stored : page) {
      found.push_back(stored.letter.id + stored.letter.routing);
      EXPECT_EQ(stored.tries, 1);
      EXPECT_EQ(stored.first_at, stored.last_at);
      last = stored.letter;
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{"1", "2", "3", "4", "4a routing"}));

  EXPECT_EQ(source_->discard_dead_letters(filter({"4"}, "too_large", "", "")), 1);
  EXPECT_EQ(count(filter({}, "", "", "")), 4);
}

TEST_P(SourceContract, APlaceIsPassedWhenEverythingBeforeItIsSaved) {
  lead();
  writer_->execute(insert(1));
  const Position place = source_->begin_reading()->place();
  EXPECT_FALSE(source_->has_passed(place));
  writer_->execute(insert(2));
  drain();
  EXPECT_TRUE(source_->has_passed(place));
}

TEST_P(SourceContract, SomethingNewIsToldAtOnce) {
  lead();
  drain();
  writer_->execute(insert(1));
  EXPECT_TRUE(source_->may_have_changed(position_));
}

// Others at the same server may have done something at any time: then it is true, though not at once.
TEST_P(SourceContract, WhoWaitsForAChangeIsToldWhenItComes) {
  using namespace std::chrono_literals;
  lead();
  drain();
  const auto begin = std::chrono::steady_clock::now();
  const bool changed = source_->await_change(position_, 50ms, 200ms);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, changed ? 50ms : 200ms);

  std::thread later([&] {
    std::this_thread::sleep_for(100ms);
    writer_->execute(insert(1));
  });
  EXPECT_TRUE(source_->await_change(position_, 5ms, 60s));
  later.join();
  EXPECT_TRUE(source_->may_have_changed(position_));
  EXPECT_EQ(drain(), (Reported{{"1", 1}}));
}

}  // namespace
}  // namespace lockstep
