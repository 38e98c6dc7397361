// Dead letters: the leader adds and clears them with its checkpoint, people look for them and discard them.
#include "tests/contract/source_contract.h"

namespace lockstep {
namespace {

TEST_P(SourceContract, NewDeadLettersAreToldFromThoseThatWereOnesBefore) {
  lead();
  const auto save = [&](const std::vector<std::string>& ids, std::int64_t counter) {
    Acknowledged acknowledged;
    for (const std::string& id : ids) acknowledged.refused.push_back(refused(docs(), id, counter));
    const auto transaction = begin();
    std::vector<std::size_t> fresh = transaction->new_dead_letters(acknowledged.refused);
    transaction->save(acknowledged);
    transaction->commit();
    return fresh;
  };
  using Positions = std::vector<std::size_t>;
  EXPECT_EQ(save({"1", "2", "1"}, 1), (Positions{0, 1}));
  EXPECT_EQ(save({"2", "3", "1"}, 2), (Positions{1}));
  EXPECT_EQ(save({"3"}, 3), Positions{});
}

TEST_P(SourceContract, ADeadLetterUnderAnotherRoutingIsAnother) {
  lead();
  Acknowledged acknowledged;
  acknowledged.refused.push_back(refused(parcels(), "1", 1));
  save(acknowledged);
  acknowledged.refused.push_back(refused(parcels(), "1", 1));
  acknowledged.refused.back().routing = "Ulm";
  EXPECT_EQ(begin()->new_dead_letters(acknowledged.refused), std::vector<std::size_t>{1});
  save(acknowledged);
  EXPECT_EQ(source_->dead_letters().count({{parcels().id}, {}, ""}), 2);
}

// "clearing dead letters: could not serialize access" ended the leadership.
TEST_P(SnapshotSourceContract, ADeadLetterThatIsDiscardedWhileTheLeaderClearsOrSavesItEndsNoLeadership) {
  lead();
  Acknowledged before;
  for (const char* const id : {"1", "2", "3"}) before.refused.push_back(refused(docs(), id, 1));
  save(before);
  const std::unique_ptr<SourceTransaction> transaction = begin();
  transaction->new_dead_letters(before.refused);  // by its snapshot all three are there
  DeadLetterFilter first_two{{docs().id}, {{"1"}, {"2"}}, ""};
  EXPECT_EQ(other()->dead_letters().discard(first_two), 2);
  Acknowledged acknowledged;
  acknowledged.no_longer_refused = {{docs().id, {"1"}, "", version(2)}, {docs().id, {"3"}, "", version(2)}};
  acknowledged.refused.push_back(refused(docs(), "2", 2));
  transaction->save(acknowledged);
  EXPECT_NO_THROW(transaction->commit());
  const auto left = source_->dead_letters().find({{docs().id}, {}, ""}, std::nullopt, 10);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].letter.id, DocumentId{"2"});
  EXPECT_EQ(left[0].letter.version, version(2));
}

TEST_P(SourceContract, OnlyDeadLettersThatMayWorkLaterAreEverDue) {
  lead();
  Acknowledged acknowledged;
  acknowledged.refused.push_back(refused(docs(), "1", 1));
  acknowledged.refused.push_back(refused(docs(), "2", 1));
  acknowledged.refused.back().status = 429;
  save(acknowledged);
  EXPECT_TRUE(source_->dead_letters().find_due({parcels().id}, 10).empty());
  for (const DeadLetter& letter : source_->dead_letters().find_due({docs().id}, 10))
    EXPECT_EQ(letter.id, DocumentId{"2"});
}

TEST_P(DefinedSourceContract, ADeadLetterIsDueAfterTenSecondsAndThenAfterTwiceAsLong) {
  using namespace std::chrono_literals;
  lead();
  Acknowledged acknowledged;
  acknowledged.refused.push_back(refused(docs(), "1", 1));
  acknowledged.refused.back().status = 429;
  const auto is_due = [this] { return !source_->dead_letters().find_due({docs().id}, 10).empty(); };
  save(acknowledged);
  EXPECT_FALSE(is_due());
  world().age_dead_letters(10s);
  EXPECT_TRUE(is_due());
  save(acknowledged);
  world().age_dead_letters(10s);
  EXPECT_FALSE(is_due());
  world().age_dead_letters(10s);
  EXPECT_TRUE(is_due());
}

TEST_P(SourceContract, DeadLettersAreFoundCountedAndDiscardedByFilter) {
  lead();
  const IndexId index = docs().id;
  {
    Acknowledged acknowledged;
    for (const char* id : {"1", "2", "3", "4"}) {
      acknowledged.refused.push_back({index,
                                      {id},
                                      "",
                                      version(1),
                                      400,
                                      std::string("type_of_") + id,
                                      "field [Price] of " + std::string(id)});
    }
    acknowledged.refused.push_back({index, {"4"}, "a routing", version(1), 413, "too_large", "by far"});
    save(acknowledged);
  }
  using std::chrono::system_clock;
  using Time = std::optional<system_clock::time_point>;
  const auto filter = [&](DocumentIds ids, std::string error, Time since, Time until) {
    return DeadLetterFilter{{index}, std::move(ids), std::move(error), since, until};
  };
  DeadLetterBox& box = source_->dead_letters();
  const auto count = [&](const DeadLetterFilter& chosen) { return box.count(chosen); };
  EXPECT_EQ(count(filter({}, "", {}, {})), 5);
  EXPECT_EQ(count(DeadLetterFilter{}), 0) << "of no index";
  EXPECT_EQ(count({{parcels().id}, {}, ""}), 0) << "of another index";
  EXPECT_EQ(count({{parcels().id, index}, {}, ""}), 5);
  EXPECT_EQ(count(filter({{"1"}, {"4"}, {"nobody's"}}, "", {}, {})), 3);
  EXPECT_EQ(count(filter({}, "TYPE_of_2", {}, {})), 1);
  EXPECT_EQ(count(filter({}, "[price]", {}, {})), 4);
  EXPECT_EQ(count(filter({}, "type_of", {}, {})), 0) << "an error type counts as a whole";
  const auto now = box.now();
  EXPECT_LT(std::chrono::abs(now - system_clock::now()), std::chrono::hours(1));
  const auto an_hour_ago = now - std::chrono::hours(1);
  EXPECT_EQ(count(filter({}, "", an_hour_ago, {})), 5);
  EXPECT_EQ(count(filter({}, "", {}, an_hour_ago)), 0);
  EXPECT_EQ(count(filter({}, "", an_hour_ago, now)), 5);
  EXPECT_EQ(count(filter({}, "", now + std::chrono::hours(1), {})), 0);

  std::vector<std::string> found;
  std::optional<DeadLetter> last;
  for (bool more = true; more;) {
    const auto page = box.find(filter({}, "", {}, {}), last, 2);
    more = page.size() == 2;
    for (const StoredDeadLetter& stored : page) {
      found.push_back(stored.letter.id.text + stored.letter.routing);
      EXPECT_EQ(stored.tries, 1);
      EXPECT_EQ(stored.first_at, stored.last_at);
      last = stored.letter;
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{"1", "2", "3", "4", "4a routing"}));

  EXPECT_EQ(box.discard(filter({{"4"}}, "too_large", {}, {})), 1);
  EXPECT_EQ(count(filter({}, "", {}, {})), 4);
}

TEST_P(SourceContract, ADeadLetterKeepsWhatElasticsearchSaidLastAndHowOften) {
  lead();
  Acknowledged acknowledged;
  acknowledged.refused.push_back({parcels().id, {"1"}, "Ulm", version(1), 400, "a type", "a reason"});
  save(acknowledged);
  const DeadLetter again{parcels().id, {"1"}, "Ulm", version(2), 413, "another type", "another reason"};
  acknowledged.refused = {again};
  save(acknowledged);
  const auto found = source_->dead_letters().find({{parcels().id}, {}, ""}, std::nullopt, 10);
  ASSERT_EQ(found.size(), 1U);
  const DeadLetter& letter = found[0].letter;
  EXPECT_EQ(letter.index, again.index);
  EXPECT_EQ(letter.id, again.id);
  EXPECT_EQ(letter.routing, again.routing);
  EXPECT_EQ(letter.version, again.version);
  EXPECT_EQ(letter.status, again.status);
  EXPECT_EQ(letter.error_type, again.error_type);
  EXPECT_EQ(letter.reason, again.reason);
  EXPECT_EQ(found[0].tries, 2);
  EXPECT_NE(found[0].first_at, "");
  EXPECT_LE(found[0].first_at, found[0].last_at);
}

TEST_P(SourceContract, AWriteClearsTheDeadLettersThatAreNotNewer) {
  lead();
  Acknowledged refusals;
  for (const char* id : {"1", "2", "3", "4"}) refusals.refused.push_back(refused(docs(), id, 5));
  save(refusals);
  Acknowledged applied;
  applied.no_longer_refused.push_back({docs().id, {"1"}, "", version(4)});
  applied.no_longer_refused.push_back({docs().id, {"2"}, "", version(6)});
  applied.no_longer_refused.push_back({parcels().id, {"3"}, "", version(6)});
  applied.no_longer_refused.push_back({docs().id, {"4"}, "", version(5)});
  save(applied);
  std::vector<std::string> left;
  for (const StoredDeadLetter& stored :
       source_->dead_letters().find({{docs().id}, {}, ""}, std::nullopt, 10)) {
    left.push_back(stored.letter.id.text);
  }
  EXPECT_EQ(left, (std::vector<std::string>{"1", "3"}));
}

TEST_P(SourceContract, ADocumentThatIsRefusedAndThenAppliedIsNoDeadLetter) {
  lead();
  Acknowledged both;
  both.refused.push_back(refused(docs(), "1", 5));
  both.refused.push_back(refused(docs(), "2", 5));
  both.no_longer_refused.push_back({docs().id, {"1"}, "", version(6)});
  save(both);
  const auto found = source_->dead_letters().find({{docs().id}, {}, ""}, std::nullopt, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].letter.id.text, "2");
}

}  // namespace
}  // namespace lockstep
