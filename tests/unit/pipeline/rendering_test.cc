#include "replicator/pipeline/rendering.h"

#include <gtest/gtest.h>

#include "tests/unit/pipeline/world.h"

namespace lockstep::fake {
namespace {

constexpr std::size_t kFull = 20'000;

class RenderingTest : public testing::Test {
 protected:
  void put(int documents, std::size_t json_bytes) {
    world_.database.commit([&](Change& change) {
      for (int i = 0; i < documents; ++i) {
        const std::string id = std::to_string(next_id_++);
        change.put(kPosts, id, "{\"text\":\"" + std::string(json_bytes, 'x') + "\"}");
        ids_.push_back({id});
      }
    });
  }

  StepDocuments step() { return {leader_.versions.epoch(), leader_.number(), kFull}; }

  /// Renders all of ids_, a step after the other; returns their sizes.
  std::vector<StepSize> steps_by_id() {
    std::vector<StepSize> sizes;
    for (DocumentIds left = ids_; !left.empty();) {
      StepDocuments documents = step();
      const auto transaction = leader_.source.changes().begin(leader_.versions.epoch());
      rendering_.render(*transaction, world_.posts(), left, documents, kFull, 2'000);
      sizes.push_back(documents.size());
    }
    return sizes;
  }
  std::vector<StepSize> steps_by_page() {
    std::vector<StepSize> sizes;
    ViewPageEnd page;
    while (!page.end) {
      StepDocuments documents = step();
      const auto transaction = leader_.source.changes().begin(leader_.versions.epoch());
      const std::optional<DocumentId> after = page.last;
      page = rendering_.render_page(*transaction, world_.posts(), after, documents, kFull, 2'000);
      if (!page.last) page.last = after;
      sizes.push_back(documents.size());
    }
    return sizes;
  }
  /// All but the last step fill a request at least three quarters.
  static void expect_full(std::vector<StepSize> sizes, std::size_t documents) {
    EXPECT_EQ(documents_of(sizes), documents);
    ASSERT_GT(sizes.size(), 5U);
    sizes.pop_back();
    for (const StepSize& size : sizes) {
      EXPECT_LE(size.bytes, kFull);
      EXPECT_GE(size.bytes, kFull * 3 / 4);
    }
  }

  static std::size_t documents_of(const std::vector<StepSize>& sizes) {
    std::size_t documents = 0;
    for (const StepSize& size : sizes) documents += size.documents;
    return documents;
  }

  World world_;
  Leader leader_{world_};
  Rendering rendering_;
  DocumentIds ids_;
  int next_id_ = 1'000'000;
};

// A hundred documents of 5 MB were rendered 5,050 times, since the limit cuts what is rendered already.
TEST_F(RenderingTest, DocumentsThatAreLargerThanARequestAreRenderedTwiceAtMost) {
  put(100, 2 * kFull);
  EXPECT_EQ(documents_of(steps_by_id()), 100U);
  EXPECT_LE(world_.database.renderings(), 200);
}

TEST_F(RenderingTest, LargeDocumentsOfAPageAreRenderedTwiceAtMost) {
  put(100, 2 * kFull);
  EXPECT_EQ(documents_of(steps_by_page()), 100U);
  EXPECT_LE(world_.database.renderings(), 200);
}

TEST_F(RenderingTest, ASmallDocumentAmongLargeOnesDoesNotHaveAllOfThemRendered) {
  for (int i = 0; i < 10; ++i) {
    put(9, 2 * kFull);
    put(1, 10);
  }
  EXPECT_EQ(documents_of(steps_by_id()), 100U);
  EXPECT_LE(world_.database.renderings(), 200);
}

// Each step left a second request of 7 % behind it: its limit counted JSON, that of a request action lines
// too.
TEST_F(RenderingTest, AStepFillsARequestAndNoMore) {
  for (const std::size_t json_bytes : {5, 100, 400}) {
    ids_.clear();
    put(2'000, json_bytes);
    expect_full(steps_by_id(), 2'000);
  }
}

TEST_F(RenderingTest, APageFillsARequestAndNoMore) {
  put(2'000, 100);
  expect_full(steps_by_page(), 2'000);
}

TEST_F(RenderingTest, AStepHasAsManyDocumentsAsItMayHave) {
  put(100, 5);
  DocumentIds left = ids_;
  StepDocuments documents = step();
  const auto transaction = leader_.source.changes().begin(leader_.versions.epoch());
  rendering_.render(*transaction, world_.posts(), left, documents, kFull, 30);
  EXPECT_EQ(documents.size().documents, 30U);
  EXPECT_EQ(left.size(), 70U);
}

TEST_F(RenderingTest, DocumentsThatTheViewDoesNotHaveAreDeleted) {
  for (int i = 0; i < 700; ++i) ids_.push_back({std::to_string(i)});
  EXPECT_EQ(documents_of(steps_by_id()), 700U);
}

}  // namespace
}  // namespace lockstep::fake
