#include "replicator/pipeline/reindex_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "replicator/error.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One reindex, of posts.
class OneReindex final : public Reindexes {
 public:
  explicit OneReindex(ReindexState state, bool was_swapped) {
    reindex_.alias = "posts";
    reindex_.state = state;
    reindex_.was_swapped = was_swapped;
  }
  std::vector<Reindex> all() override { return {reindex_}; }
  bool start(const WantedReindex&) override { return false; }
  bool limit(ReindexId, std::optional<std::int64_t>) override { return false; }
  bool want(ReindexId, ReindexWish, Force) override { return false; }
  bool advance(const Reindex&, Epoch, const ReindexStep&) override { return false; }
  void note(ReindexId, const std::string&) override {}
  std::int64_t refused_beside(const Reindex&) override { return 0; }
  void note_pace(IndexId, JobKind, const Pace&) override {}
  std::optional<Pace> pace(IndexId, JobKind) override { return std::nullopt; }

 private:
  Reindex reindex_;
};

/// Empty: it is accepted.
std::string refusal(ReindexWish wish, ReindexState state, bool was_swapped) {
  OneReindex reindexes(state, was_swapped);
  try {
    EXPECT_EQ(reindexes_for(reindexes, wish, {"posts"}).size(), 1u);
    EXPECT_EQ(reindexes_for(reindexes, wish, {}).size(), 1u);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

// Reported: a reindex had failed after its alias had moved. --abort named --back and --finish, and both of
// these named --abort.
TEST(ReindexOrders, AFailedReindexIsEndedByAbortWhereverTheAliasPoints) {
  for (const bool was_swapped : {false, true}) {
    EXPECT_EQ(refusal(ReindexWish::kAbort, ReindexState::kFailed, was_swapped), "");
    for (const ReindexWish wish : {ReindexWish::kBack, ReindexWish::kFinish})
      EXPECT_THAT(refusal(wish, ReindexState::kFailed, was_swapped), HasSubstr("--abort ends it"));
  }
}

TEST(ReindexOrders, ARefusalNamesNoOrderThatIsRefusedToo) {
  using enum ReindexState;
  const std::map<std::string, ReindexWish> orders = {
      {"--back", ReindexWish::kBack}, {"--finish", ReindexWish::kFinish}, {"--abort", ReindexWish::kAbort}};
  for (const ReindexState state : {kCreating, kFilling, kComparing, kSwapping, kKept, kDropping, kFailed}) {
    for (const bool was_swapped : {false, true}) {
      for (const auto& [given, wish] : orders) {
        const std::string refused = refusal(wish, state, was_swapped);
        for (const auto& [named, other] : orders) {
          if (!refusal(other, state, was_swapped).empty())
            EXPECT_THAT(refused, Not(HasSubstr(named))) << name_of(state) << " after " << given;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
