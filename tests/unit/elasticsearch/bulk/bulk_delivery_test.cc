#include "replicator/elasticsearch/bulk/bulk_delivery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

namespace lockstep {
namespace {

using Kind = BulkReply::Kind;

BulkRequest bulk_of(std::size_t items, std::size_t document_bytes = 10) {
  BulkRequest request;
  for (std::size_t i = 0; i < items; ++i) {
    request.index("posts", {1, std::to_string(i), ""},
                  DocumentVersion(Epoch{1}, static_cast<std::int64_t>(i)),
                  '{' + std::string(document_bytes, ' ') + '}');
  }
  return request;
}

std::vector<std::string> ids_of(const BulkRequest& request) {
  std::vector<std::string> ids;
  for (const BulkItem& item : request.items()) ids.push_back(item.key.id.text);
  return ids;
}

BulkReply items_reply(const BulkRequest& piece, const std::function<ItemResult(const std::string&)>& result) {
  BulkReply reply;
  reply.status = 200;
  for (const BulkItem& item : piece.items()) reply.items.push_back(result(item.key.id.text));
  return reply;
}

ItemResult applied(const std::string&) {
  return {Outcome::kApplied, 200, "", ""};
}
ItemResult rejected_for_load() {
  return {Outcome::kNotTaken, 429, "es_rejected_execution_exception", "busy"};
}

BulkReply whole(Kind kind, int status) {
  return {kind, {}, status, "some_type", "why"};
}

TEST(BulkDelivery, OneGoodReplyFinishesIt) {
  BulkDelivery delivery(bulk_of(3));
  EXPECT_FALSE(delivery.finished());
  const BulkRequest& piece = delivery.next_piece();
  EXPECT_EQ(ids_of(piece), (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(delivery.answered(items_reply(piece, applied)), 3u);
  ASSERT_TRUE(delivery.finished());
  const BulkResult result = delivery.take_result();
  EXPECT_EQ(result.outcomes, std::vector<Outcome>(3, Outcome::kApplied));
  EXPECT_EQ(result.request.items().size(), 3u);
  EXPECT_TRUE(result.refusals.empty());
}

TEST(BulkDelivery, AnEmptyRequestIsFinished) {
  EXPECT_TRUE(BulkDelivery(BulkRequest{}).finished());
}

TEST(BulkDelivery, OnlyItemsWithoutOutcomeAreSentAgain) {
  BulkDelivery delivery(bulk_of(4));
  delivery.answered(items_reply(delivery.next_piece(), [](const std::string& id) -> ItemResult {
    if (id == "0") return {Outcome::kSuperseded, 409, "", ""};
    if (id == "1") return {Outcome::kNotTaken, 503, "unavailable_shards_exception", "shard away"};
    if (id == "2") return {Outcome::kRefused, 400, "mapper_parsing_exception", "no number"};
    return {Outcome::kApplied, 201, "", ""};
  }));
  EXPECT_FALSE(delivery.finished());
  EXPECT_FALSE(delivery.has_piece()) << "there is a wait before the next round";
  EXPECT_EQ(delivery.failure().reason, "shard away");

  delivery.begin_round();
  const BulkRequest& piece = delivery.next_piece();
  EXPECT_EQ(ids_of(piece), std::vector<std::string>{"1"});
  EXPECT_EQ(piece.items()[0].version, DocumentVersion(Epoch{1}, 1));
  delivery.answered(items_reply(piece, applied));

  ASSERT_TRUE(delivery.finished());
  const BulkResult result = delivery.take_result();
  EXPECT_EQ(result.outcomes, (std::vector<Outcome>{Outcome::kSuperseded, Outcome::kApplied, Outcome::kRefused,
                                                   Outcome::kApplied}));
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].item, 2u);
  EXPECT_EQ(result.refusals[0].status, 400);
  EXPECT_EQ(result.refusals[0].type, "mapper_parsing_exception");
  EXPECT_EQ(result.refusals[0].reason, "no number");
}

TEST(BulkDelivery, PiecesAreNoLargerThanAllowedUnlessOneDocumentIs) {
  BulkDelivery delivery(bulk_of(8, 1'000));
  const std::size_t line = delivery.next_piece(1).bytes();
  EXPECT_GT(line, 1'000u);
  EXPECT_EQ(delivery.piece_bytes(), line);
  delivery.unanswered(false, "refused");
  delivery.begin_round();
  EXPECT_EQ(ids_of(delivery.next_piece(3 * line)), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(delivery.piece_bytes(), 3 * line);
  delivery.answered(whole(Kind::kRetry, 429));
  EXPECT_FALSE(delivery.has_piece()) << "the rest of the round is put off as well";
  delivery.begin_round();
  EXPECT_EQ(delivery.next_piece().items().size(), 8u);
}

// For the time of a large document's write a reader found it nowhere.
TEST(BulkDelivery, AWriteGoesWithItsDeletesUnderOldRoutingsWhileTheServerTakesThemTogether) {
  BulkRequest request;
  const std::string large = '{' + std::string(1'000, ' ') + '}';
  for (const char* id : {"a", "b"}) {
    request.remove("posts", {1, id, "old"}, DocumentVersion(Epoch{1}, 1));
    request.index("posts", {1, id, "new"}, DocumentVersion(Epoch{1}, 2), large);
  }
  BulkDelivery delivery(std::move(request));
  const BulkRequest& first = delivery.next_piece(500);
  EXPECT_EQ(ids_of(first), (std::vector<std::string>{"a", "a"}));
  delivery.answered(items_reply(first, applied));
  EXPECT_EQ(ids_of(delivery.next_piece(500)), (std::vector<std::string>{"b", "b"}));
  delivery.answered(whole(Kind::kTooLarge, 413));
  for (int part = 0; part < 2; ++part) {
    const BulkRequest& piece = delivery.next_piece(500);
    EXPECT_EQ(ids_of(piece), std::vector<std::string>{"b"});
    delivery.answered(items_reply(piece, applied));
  }
  EXPECT_TRUE(delivery.finished());
}

TEST(BulkDelivery, TellsHowMuchTheServerCanTake) {
  const auto load_after = [](BulkReply reply) {
    BulkDelivery delivery(bulk_of(4));
    delivery.next_piece();
    delivery.answered(std::move(reply));
    return delivery.load();
  };
  const auto items_after = [](int status) {
    BulkDelivery delivery(bulk_of(4));
    delivery.answered(items_reply(delivery.next_piece(), [&](const std::string& id) -> ItemResult {
      if (id == "2") return {Outcome::kNotTaken, status, "some_type", "why"};
      return {Outcome::kApplied, 200, "", ""};
    }));
    return delivery.load();
  };
  EXPECT_EQ(items_after(429), Kind::kOverloaded);
  EXPECT_EQ(items_after(503), Kind::kOverloaded);
  EXPECT_EQ(items_after(500), Kind::kItems);
  EXPECT_EQ(load_after(whole(Kind::kOverloaded, 429)), Kind::kOverloaded);
  EXPECT_EQ(load_after(whole(Kind::kOverloaded, 503)), Kind::kOverloaded);
  EXPECT_EQ(load_after(whole(Kind::kRetry, 500)), Kind::kRetry);
  EXPECT_EQ(load_after(whole(Kind::kTooLarge, 413)), Kind::kTooLarge);
  EXPECT_EQ(load_after(whole(Kind::kRejected, 400)), Kind::kRejected);

  BulkDelivery silent(bulk_of(4));
  silent.next_piece();
  silent.unanswered(true, "timed out");
  EXPECT_EQ(silent.load(), Kind::kOverloaded);
  silent.begin_round();
  silent.next_piece();
  silent.unanswered(false, "refused");
  EXPECT_EQ(silent.load(), Kind::kRetry);

  BulkRequest one_large = bulk_of(4);
  one_large.index("posts", {1, "large", ""}, DocumentVersion(Epoch{1}, 9),
                  '{' + std::string(100'000, ' ') + '}');
  BulkDelivery delivery(std::move(one_large));
  delivery.next_piece();
  delivery.answered(whole(Kind::kTooLarge, 413));
  EXPECT_EQ(delivery.load(), Kind::kRetry) << "one document is to blame";
}

TEST(BulkDelivery, ServerErrorsDoNotShrinkPieces) {
  BulkDelivery delivery(bulk_of(8));
  delivery.next_piece();
  delivery.answered(whole(Kind::kRetry, 503));
  delivery.begin_round();
  EXPECT_EQ(delivery.next_piece().items().size(), 8u);
  delivery.unanswered(false, "refused");
  EXPECT_EQ(delivery.failure().reason, "refused");
  delivery.begin_round();
  EXPECT_EQ(delivery.next_piece().items().size(), 8u);
}

TEST(BulkDelivery, ALostReplyShrinksPiecesButNeverBelowOne) {
  BulkDelivery delivery(bulk_of(3));
  for (const std::size_t expected : {3u, 1u, 1u}) {
    EXPECT_EQ(delivery.next_piece().items().size(), expected);
    delivery.unanswered(true, "timed out");
    delivery.begin_round();
  }
}

/// Sends pieces until finished, without waiting in between; returns how many there were.
int drive(BulkDelivery& delivery, const std::function<BulkReply(const BulkRequest&)>& server) {
  int pieces = 0;
  while (!delivery.finished()) {
    if (!delivery.has_piece()) delivery.begin_round();
    const BulkRequest& piece = delivery.next_piece();
    ++pieces;
    delivery.answered(server(piece));
    if (pieces > 10'000) {
      ADD_FAILURE() << "no end";
      break;
    }
  }
  return pieces;
}

TEST(BulkDelivery, TooLargeRequestsAreSplitByBytesUntilTheyFit) {
  BulkDelivery delivery(bulk_of(64, 1'000));
  const int pieces = drive(delivery, [](const BulkRequest& piece) {
    return piece.bytes() > 20'000 ? whole(Kind::kTooLarge, 413) : items_reply(piece, applied);
  });
  EXPECT_LT(pieces, 10);
  EXPECT_EQ(delivery.take_result().outcomes, std::vector<Outcome>(64, Outcome::kApplied));
}

TEST(BulkDelivery, ADocumentThatIsTooLargeAloneIsRefusedAndTheOthersGoOn) {
  BulkRequest request = bulk_of(5, 100);
  request.index("posts", {1, "giant", ""}, DocumentVersion(), '{' + std::string(50'000, ' ') + '}');
  request.index("posts", {1, "last", ""}, DocumentVersion(), "{}");
  BulkDelivery delivery(std::move(request));
  drive(delivery, [](const BulkRequest& piece) {
    if (piece.bytes() <= 10'000) return items_reply(piece, applied);
    return BulkReply{Kind::kTooLarge, {}, 413, "content_too_large", "too large"};
  });
  const BulkResult result = delivery.take_result();
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].item, 5u);
  EXPECT_EQ(result.refusals[0].type, "content_too_large");
  EXPECT_EQ(std::count(result.outcomes.begin(), result.outcomes.end(), Outcome::kApplied), 6);
}

TEST(BulkDelivery, APoisonItemThatFailsTheWholeRequestNeverStopsTheOthers) {
  BulkDelivery delivery(bulk_of(1'000));
  const int pieces = drive(delivery, [](const BulkRequest& piece) {
    const std::vector<std::string> ids = ids_of(piece);
    const bool poisoned = std::find(ids.begin(), ids.end(), "617") != ids.end();
    return poisoned ? whole(Kind::kRejected, 400) : items_reply(piece, applied);
  });
  EXPECT_LT(pieces, 60);
  const BulkResult result = delivery.take_result();
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].item, 617u);
  EXPECT_EQ(result.outcomes[617], Outcome::kRefused);
  EXPECT_EQ(std::count(result.outcomes.begin(), result.outcomes.end(), Outcome::kApplied), 999);
}

TEST(BulkDelivery, EveryItemGetsItsOneOutcomeWhateverTheServerDoes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const std::size_t size = 1 + random() % 50;
    BulkDelivery delivery(bulk_of(size, random() % 300));
    std::set<std::string> settled;
    std::vector<Outcome> expected(size);
    std::vector<BulkResult> results;
    int tries = 0;
    while (!delivery.finished()) {
      ASSERT_LT(++tries, 100'000);
      if (!delivery.has_piece()) {
        if (tries > 1 && random() % 2 == 0) results.push_back(delivery.take_part());
        delivery.begin_round();
      }
      const BulkRequest& piece = delivery.next_piece();
      ASSERT_FALSE(piece.empty());
      for (const BulkItem& item : piece.items())
        ASSERT_FALSE(settled.contains(item.key.id.text)) << "sent again";
      const std::vector<std::string> ids = ids_of(piece);
      switch (random() % 6) {
        case 0:
          delivery.unanswered(random() % 2 == 0, "lost");
          break;
        case 1:
          delivery.answered(whole(Kind::kRetry, random() % 2 == 0 ? 429 : 503));
          break;
        case 2: {
          const Kind kind = random() % 2 == 0 ? Kind::kTooLarge : Kind::kRejected;
          if (ids.size() == 1) {
            settled.insert(ids[0]);
            expected[std::stoul(ids[0])] = Outcome::kRefused;
          }
          delivery.answered(whole(kind, kind == Kind::kTooLarge ? 413 : 400));
          break;
        }
        default:
          delivery.answered(items_reply(piece, [&](const std::string& id) -> ItemResult {
            const auto outcome = static_cast<Outcome>(random() % 5);
            if (outcome == Outcome::kNotTaken || outcome == Outcome::kDoubtful) return rejected_for_load();
            settled.insert(id);
            expected[std::stoul(id)] = outcome == Outcome::kApplied      ? Outcome::kApplied
                                       : outcome == Outcome::kSuperseded ? Outcome::kSuperseded
                                                                         : Outcome::kRefused;
            return {outcome, 400, "t", "r"};
          }));
      }
    }
    results.push_back(delivery.take_result());
    std::size_t items = 0;
    for (const BulkResult& result : results) {
      EXPECT_EQ(result.is_last, &result == &results.back());
      const std::vector<std::string> ids = ids_of(result.request);
      ASSERT_EQ(result.outcomes.size(), ids.size());
      items += ids.size();
      std::vector<std::size_t> expected_refused;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(result.outcomes[i], expected[std::stoul(ids[i])]);
        if (result.outcomes[i] == Outcome::kRefused) expected_refused.push_back(i);
      }
      std::vector<std::size_t> refused;
      for (const RefusedItem& refusal : result.refusals) refused.push_back(refusal.item);
      EXPECT_EQ(refused, expected_refused);
    }
    EXPECT_EQ(items, size);
  }
}

using Fails = std::function<bool(const BulkRequest&)>;

// As BulkWriter does: what fails as a whole twice is singled out. Returns the number of pieces until no more
// than `left` documents have no outcome.
int pieces_until_done(std::size_t items, const Fails& fails, bool by_cut, std::size_t left = 0) {
  BulkDelivery delivery(bulk_of(items));
  int pieces = 0;
  for (int round = 1; !delivery.finished(); ++round) {
    while (delivery.has_piece()) {
      const BulkRequest& piece = delivery.next_piece();
      ++pieces;
      if (!fails(piece))
        delivery.answered(items_reply(piece, applied));
      else if (by_cut)
        delivery.unanswered(true, "cut");
      else
        delivery.answered(whole(Kind::kRetry, 429));
    }
    if (delivery.left().size() <= left) break;
    if (round >= 2) delivery.single_out();
    delivery.begin_round();
  }
  return pieces;
}

// A gateway that answered every other request with 429 got one for each document: a fan-out of 30,000 that
// takes 16 requests stood at 2,000 after 36 s and 3,430 of them.
TEST(BulkDelivery, AServerThatRefusesHalfOfTheRequestsGetsNoneForEachDocument) {
  for (const bool by_cut : {false, true}) {
    std::mt19937 random(1);
    int pieces = 0;
    for (int i = 0; i < 20; ++i)
      pieces += pieces_until_done(
          2'000, [&](const BulkRequest&) { return random() % 2 == 0; }, by_cut);
    EXPECT_LT(pieces, 20 * 100) << (by_cut ? "cut" : "429");
  }
}

// They are told from chance after one more try of the whole.
TEST(BulkDelivery, WhereHalfOfTheDocumentsAreToBlameTheOthersAreWrittenSoon) {
  const auto is_to_blame = [](const BulkItem& item) { return std::stoi(item.key.id.text) % 2 == 0; };
  for (const bool by_cut : {false, true}) {
    const int pieces = pieces_until_done(
        40, [&](const BulkRequest& piece) { return std::ranges::any_of(piece.items(), is_to_blame); }, by_cut,
        20);
    EXPECT_LT(pieces, 100) << (by_cut ? "cut" : "429");
  }
}

// Behind a limit of five requests a second there were 1,600.
TEST(BulkDelivery, DocumentsThatAreAnsweredBusyInTurnEndTheRound) {
  BulkDelivery delivery(bulk_of(100));
  delivery.next_piece();
  delivery.answered(whole(Kind::kRetry, 429));
  delivery.single_out();
  delivery.begin_round();
  int pieces = 0;
  for (; delivery.has_piece(); ++pieces) {
    delivery.next_piece();
    delivery.answered(whole(Kind::kRetry, 429));
  }
  EXPECT_EQ(pieces, 2);
  EXPECT_EQ(delivery.left().size(), 100u);
}

TEST(BulkDelivery, WhatIsSingledOutNoLongerFailsTogether) {
  BulkDelivery delivery(bulk_of(8));
  delivery.next_piece();
  delivery.answered(whole(Kind::kRetry, 429));
  EXPECT_TRUE(delivery.settled());
  delivery.single_out();
  delivery.begin_round();
  while (delivery.has_piece()) {
    const BulkRequest& piece = delivery.next_piece();
    ASSERT_EQ(piece.items().size(), 1u);
    const bool too_much = piece.items()[0].key.id.text == "3";
    delivery.answered(too_much ? whole(Kind::kRetry, 429) : items_reply(piece, applied));
  }
  EXPECT_EQ(delivery.left(), std::vector<std::size_t>{3});
  delivery.give_back(Outcome::kRefused, delivery.failure());
  ASSERT_TRUE(delivery.finished());
  const BulkResult result = delivery.take_result();
  EXPECT_EQ(result.outcomes[3], Outcome::kRefused);
  EXPECT_EQ(std::count(result.outcomes.begin(), result.outcomes.end(), Outcome::kApplied), 7);
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].item, 3u);
}

TEST(BulkDelivery, WhatHasItsOutcomeIsTakenWhileTheRestIsSentAgain) {
  BulkDelivery delivery(bulk_of(5));
  delivery.answered(items_reply(delivery.next_piece(), [](const std::string& id) -> ItemResult {
    if (id == "1" || id == "4") return rejected_for_load();
    if (id == "2") return {Outcome::kRefused, 400, "mapper_parsing_exception", "no number"};
    return {Outcome::kApplied, 201, "", ""};
  }));
  const BulkResult part = delivery.take_part();
  EXPECT_FALSE(part.is_last);
  EXPECT_EQ(ids_of(part.request), (std::vector<std::string>{"0", "2", "3"}));
  EXPECT_EQ(part.outcomes, (std::vector<Outcome>{Outcome::kApplied, Outcome::kRefused, Outcome::kApplied}));
  ASSERT_EQ(part.refusals.size(), 1u);
  EXPECT_EQ(part.refusals[0].item, 1u);
  EXPECT_TRUE(delivery.take_part().request.empty()) << "it is taken once";

  EXPECT_EQ(ids_of(delivery.request()), (std::vector<std::string>{"1", "4"}));
  delivery.begin_round();
  EXPECT_EQ(delivery.answered(items_reply(delivery.next_piece(), applied)), 2u);
  ASSERT_TRUE(delivery.finished());
  const BulkResult rest = delivery.take_result();
  EXPECT_TRUE(rest.is_last);
  EXPECT_EQ(ids_of(rest.request), (std::vector<std::string>{"1", "4"}));
  EXPECT_EQ(rest.outcomes, std::vector<Outcome>(2, Outcome::kApplied));
  EXPECT_TRUE(rest.refusals.empty());
}

// A document for which something in front of Elasticsearch cuts the connection kept others from being sent.
TEST(BulkDelivery, WhatIsNeverAnsweredKeepsNothingFromBeingSent) {
  BulkDelivery delivery(bulk_of(6));
  int rounds = 0;
  while (delivery.left().size() != 1) {
    ASSERT_LT(++rounds, 20);
    if (rounds > 1) delivery.begin_round();
    while (delivery.has_piece()) {
      const BulkRequest& piece = delivery.next_piece();
      if (piece.body().find("\"_id\":\"0\"") != std::string::npos) {
        delivery.unanswered(true, "cut");
      } else {
        delivery.answered(items_reply(piece, applied));
      }
    }
  }
  EXPECT_FALSE(delivery.settled());
}

TEST(BulkDelivery, WhatMayBeOnItsWayIsNotSettledByAnAnswerForOthers) {
  BulkDelivery delivery(bulk_of(2));
  delivery.next_piece();
  delivery.unanswered(true, "timed out");
  delivery.begin_round();
  EXPECT_EQ(delivery.next_piece().items().size(), 1u);
  delivery.unanswered(true, "timed out");
  delivery.begin_round();
  delivery.next_piece();
  delivery.answered(whole(Kind::kRetry, 429));
  while (delivery.has_piece()) {
    delivery.next_piece();
    delivery.unanswered(true, "timed out");
  }
  EXPECT_FALSE(delivery.settled());
}

TEST(BulkDelivery, WithoutAReplyAPieceMayStillBeOnItsWay) {
  BulkDelivery delivery(bulk_of(1));
  delivery.next_piece();
  delivery.unanswered(true, "timed out");
  EXPECT_FALSE(delivery.settled());
  delivery.begin_round();
  delivery.next_piece();
  delivery.answered(whole(Kind::kRetry, 504));
  EXPECT_FALSE(delivery.settled()) << "a gateway's word";
  delivery.begin_round();
  delivery.next_piece();
  delivery.unanswered(false, "refused");
  EXPECT_TRUE(delivery.settled());
}

}  // namespace
}  // namespace lockstep
