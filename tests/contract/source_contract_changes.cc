// Which changes are reported, and what their documents come from (S1 to S3).
#include <algorithm>
#include <random>

#include "tests/contract/source_contract.h"
#include "tests/support/random_seed.h"

namespace lockstep {
namespace {

// --- S1 ---

TEST_P(SourceContract, S1_WhatCommitsIsReportedOnceAndNotAgain) {
  lead();
  writer_->insert_thing(1, 0);
  writer_->insert_thing(2, 0);
  EXPECT_EQ(drain(), (Reported{{"1", 1}, {"2", 1}}));
  EXPECT_EQ(drain(), Reported{});
  writer_->set_n(1, 5);
  EXPECT_EQ(drain(), (Reported{{"1", 1}}));
}

TEST_P(SourceContract, S1_WhatIsRolledBackIsNeverReported) {
  lead();
  writer_->begin();
  writer_->insert_thing(1, 0);
  writer_->rollback();
  writer_->begin();
  writer_->insert_thing(2, 0);
  writer_->savepoint();
  writer_->insert_thing(3, 0);
  writer_->rollback_to_savepoint();
  writer_->commit();
  EXPECT_EQ(drain(), (Reported{{"2", 1}}));
}

TEST_P(ConcurrentSourceContract, S1_ALateCommitIsReportedAfterManyBatches) {
  lead();
  const auto late = world_->writer();
  late->begin();
  late->insert_thing(1000, 0);
  for (int i = 1; i <= 5; ++i) {
    writer_->insert_thing(i, 0);
    EXPECT_EQ(drain(), (Reported{{std::to_string(i), 1}}));
    late->savepoint();
    late->insert_thing(1000 + i, 0);
  }
  late->commit();
  EXPECT_EQ(drain(2).size(), 6U);
  EXPECT_EQ(drain(), Reported{});
}

TEST_P(SourceContract, S1_WhatWasNotSavedIsReportedAgainToTheNextOne) {
  lead();
  writer_->insert_thing(1, 0);
  step();
  writer_->insert_thing(2, 0);
  {
    const auto transaction = begin();
    EXPECT_EQ(transaction->read_changes(position_, {1000}).rows, 1);
  }
  source_.reset();
  lead();
  EXPECT_EQ(drain(), (Reported{{"2", 1}}));
}

TEST_P(SourceContract, S1_ALargeTransactionComesInChunksThatTogetherAreWhole) {
  lead();
  writer_->begin();
  for (int i = 1; i <= 300; ++i) writer_->insert_thing(i, 0);
  writer_->commit();
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

// Writers whose transactions begin, write, and end at random.
class RandomWriters {
 public:
  RandomWriters(SourceWorld& world, int writers) : writers_(static_cast<std::size_t>(writers)) {
    for (Open& writer : writers_) writer.writer = world.writer();
  }

  /// 0 to `high`.
  int pick(int high) { return std::uniform_int_distribution<int>(0, high)(random_); }

  void act() {
    Open& writer = writers_[static_cast<std::size_t>(pick(static_cast<int>(writers_.size()) - 1))];
    if (!writer.open) {
      writer.writer->begin();
      writer.open = true;
    } else if (pick(2) > 0) {
      writer.writer->insert_thing(++next_, 0);
      writer.written.push_back(std::to_string(next_));
    } else {
      end(writer, pick(3) > 0 ? End::kCommit : End::kRollback);
    }
  }

  bool any_is_open() const {
    return std::any_of(writers_.begin(), writers_.end(), [](const Open& writer) { return writer.open; });
  }

  void roll_back_all() {
    for (Open& writer : writers_) {
      if (writer.open) end(writer, End::kRollback);
    }
  }

  const Reported& committed() const { return committed_; }

 private:
  struct Open {
    std::unique_ptr<SourceWriter> writer;
    std::vector<std::string> written;
    bool open = false;
  };
  enum class End { kCommit, kRollback };

  void end(Open& writer, End how) {
    if (how == End::kCommit) {
      writer.writer->commit();
      for (const std::string& value : writer.written) committed_[value] = 1;
    } else {
      writer.writer->rollback();
    }
    writer.written.clear();
    writer.open = false;
  }

  std::mt19937_64 random_{support::random_seed()};
  std::vector<Open> writers_;
  Reported committed_;
  int next_ = 0;
};

// Read at random moments: each value that was committed is in exactly one chunk, each that was rolled back in
// none.
TEST_P(SourceContract, S1_RandomTransactionsAreReportedExactlyOnce) {
  lead();
  RandomWriters writers(*world_, 1);
  Reported reported;
  for (int i = 0; i < 500; ++i) {
    writers.act();
    if (writers.pick(9) > 0 || (writers.any_is_open() && !world_->saves_beside_open_writers())) continue;
    for (const auto& [value, count] : drain(1 + writers.pick(20))) reported[value] += count;
  }
  writers.roll_back_all();
  for (const auto& [value, count] : drain()) reported[value] += count;
  EXPECT_EQ(reported, writers.committed());
}

TEST_P(ConcurrentSourceContract, S1_RandomlyOverlappingTransactionsAreReportedExactlyOnce) {
  lead();
  RandomWriters writers(*world_, 6);
  Reported reported;
  for (int i = 0; i < 1500; ++i) {
    writers.act();
    if (writers.pick(9) == 0) {
      for (const auto& [value, count] : drain(1 + writers.pick(20))) reported[value] += count;
    }
    if (writers.pick(99) == 0) {
      source_.reset();
      lead();
    }
  }
  writers.roll_back_all();
  for (const auto& [value, count] : drain()) reported[value] += count;
  EXPECT_EQ(reported, writers.committed());
}

TEST_P(SourceContract, S1_OldAndNewValuesOfAChangedRowAreReported) {
  lead();
  writer_->insert_thing(1, 0);
  writer_->insert_thing(2, 0);
  writer_->insert_part(1, 1);
  drain();
  writer_->move_part(1, 2);
  EXPECT_EQ(drain(), (Reported{{"1", 1}, {"2", 1}}));
  writer_->renumber_thing(1, 3);
  EXPECT_EQ(drain(), (Reported{{"1", 1}, {"3", 1}}));
  writer_->delete_part(1);
  EXPECT_EQ(drain(), (Reported{{"2", 1}}));
}

TEST_P(SourceContract, S1_AnEmptiedTableConcernsEveryDocument) {
  lead();
  writer_->insert_things(1, 3);
  drain();
  writer_->truncate_things();
  const Changes changes = begin()->read_changes(position_, {1000});
  ASSERT_FALSE(changes.captured.empty());
  for (const CapturedChange& change : changes.captured) {
    const std::set<std::string> values(change.values.begin(), change.values.end());
    EXPECT_TRUE(change.everything || values == (std::set<std::string>{"1", "2", "3"}));
  }
}

TEST_P(SnapshotSourceContract, S1_SkippedChangesAreInNoChunkAndLaterOnesAre) {
  lead();
  writer_->insert_thing(1, 0);
  {
    const auto transaction = begin();
    EXPECT_EQ(transaction->read_changes(position_, {1000}).rows, 1);
    writer_->insert_thing(2, 0);
    transaction->skip_changes();
    transaction->commit();
  }
  EXPECT_NE(source_->changes().checkpoint(), position_);
  position_ = source_->changes().checkpoint();
  EXPECT_EQ(drain(), (Reported{{"2", 1}}));
}

TEST_P(SourceContract, S1_AChunkSaysHowManyRowsItHasAndHowOldTheyAre) {
  lead();
  for (int i = 1; i <= 3; ++i) writer_->insert_thing(i, 0);
  const auto transaction = begin();
  const Changes changes = transaction->read_changes(position_, {1000});
  EXPECT_EQ(changes.rows, 3);
  EXPECT_FALSE(changes.more);
  EXPECT_NE(changes.next, position_);
  EXPECT_GE(changes.oldest_age.count(), 0);
  EXPECT_LT(changes.oldest_age, std::chrono::minutes(10));
  const Changes none = transaction->read_changes(changes.next, {1000});
  EXPECT_EQ(none.rows, 0);
  EXPECT_TRUE(none.captured.empty());
}

TEST_P(SourceContract, TheCheckpointIsWhatWasSavedLast) {
  lead();
  writer_->insert_thing(1, 0);
  const Position before = position_;
  step();
  EXPECT_NE(position_, before);
  EXPECT_EQ(source_->changes().checkpoint(), position_);
  EXPECT_EQ(other()->changes().checkpoint(), position_);
  save({});
  EXPECT_EQ(source_->changes().checkpoint(), position_) << "a save without a position has moved it";
}

// --- S2, S3 ---

TEST_P(SnapshotSourceContract, S2_DocumentsComeFromOneSnapshotThatHasTheChange) {
  lead();
  writer_->insert_thing(1, 5);
  const auto transaction = begin();
  const Changes changes = transaction->read_changes(position_, {1000});
  const auto ids = transaction->resolve(docs(), changes.captured, {1000});
  ASSERT_TRUE(ids);
  writer_->set_n(1, 6);
  writer_->insert_part(7, 1);
  Rendered documents;
  EXPECT_TRUE(transaction->render(docs(), *ids, 1 << 20, documents.sink()).empty());
  ASSERT_EQ(documents.json.size(), 1U);
  EXPECT_NE(documents.json.at("1").find("5"), std::string::npos) << documents.json.at("1");
  EXPECT_EQ(documents.json.at("1").find("7"), std::string::npos) << documents.json.at("1");
}

TEST_P(SourceContract, S2_DocumentsThatTheViewDoesNotHaveAreReportedAsNone) {
  lead();
  writer_->insert_thing(1, 0);
  writer_->insert_thing(2, 0);
  drain();
  writer_->delete_thing(1);
  writer_->set_n(2, -1);
  EXPECT_EQ(step().documents, (std::map<std::string, std::string>{{"1", "none"}, {"2", "none"}}));
}

TEST_P(SourceContract, S3_WhatATransactionSawTheNextOneSeesToo) {
  lead();
  writer_->insert_thing(1, 0);
  int before = 0;
  for (int i = 1; i <= 50; ++i) {
    writer_->set_every_n(i);
    const auto documents = step().documents;
    ASSERT_EQ(documents.size(), 1U);
    const std::string& json = documents.at("1");
    const int n = std::stoi(json.substr(json.find(':') + 1));
    EXPECT_GE(n, i);
    EXPECT_GE(n, before);
    before = n;
  }
}

// --- from changes to documents ---

TEST_P(SourceContract, ResolvingStopsAtTheLimit) {
  lead();
  for (int i = 1; i <= 20; ++i) writer_->insert_thing(i, 0);
  const auto transaction = begin();
  const Changes changes = transaction->read_changes(position_, {1000});
  EXPECT_FALSE(transaction->resolve(docs(), changes.captured, {19}));
  const auto all = transaction->resolve(docs(), changes.captured, {20});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 20U);
}

TEST_P(SourceContract, OneValueLeadsToAllItsDocumentsAndToNoOtherIndex) {
  lead();
  writer_->insert_town(7, "Ulm");
  for (int i = 1; i <= 5; ++i) writer_->insert_parcel(i, 7);
  writer_->insert_parcel(6, 8);
  drain();
  writer_->rename_town(7, "Bonn");
  const auto transaction = begin();
  const Changes changes = transaction->read_changes(position_, {1000});
  EXPECT_EQ(changes.rows, 1);
  const auto found = transaction->resolve(parcels(), changes.captured, {1000});
  ASSERT_TRUE(found);
  EXPECT_EQ(std::set<DocumentId>(found->begin(), found->end()),
            (std::set<DocumentId>{{"1"}, {"2"}, {"3"}, {"4"}, {"5"}}));
  EXPECT_FALSE(transaction->resolve(parcels(), changes.captured, {4}));
  const auto others = transaction->resolve(docs(), changes.captured, {1000});
  ASSERT_TRUE(others);
  EXPECT_TRUE(others->empty());
}

}  // namespace
}  // namespace lockstep
