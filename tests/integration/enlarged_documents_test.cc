// Documents that another writer has made far larger than the view gives them: `verify` reads them in the
// memory of a page all the same.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/blog_pipeline.h"
#include "tests/support/resource_use.h"

namespace lockstep::support {
namespace {

// Sanitizers keep what was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMost = 4096;
#else
constexpr double kMost = 40;  // MiB
#endif

constexpr int kSmall = 340;    // 4 + 16 + 64 + 256: the requests that grow with small replies
constexpr int kEnlarged = 20;  // one reply has them all, and more would close a breaker of the small node

class EnlargedDocuments : public BlogTest {
 protected:
  /// White space does not count, so they are equal.
  void enlarge() {
    execute(
        "delete from blog.posts; insert into blog.posts (id, author_id, title) select i, 1, 'post' from "
        "generate_series(1, " +
        std::to_string(kSmall + kEnlarged) + ") i");
    bring_up();
    const std::string blanks(1024 * 1024, ' ');
    for (int id = kSmall + 1; id <= kSmall + kEnlarged; ++id) {
      std::string json = document(std::to_string(id));
      posts_.damage(std::to_string(id), json.insert(json.size() - 1, blanks));
    }
  }
};

TEST_F(EnlargedDocuments, VerifyCutsOffWhatIsLargerThanItExpectedAndComparesAll) {
  enlarge();
  const MeasuredRun run = measured_run(pipeline_, "verify", {}, 2 * kPatience);
  EXPECT_LE(run.peak_memory, kMost) << "MiB";
}

}  // namespace
}  // namespace lockstep::support
