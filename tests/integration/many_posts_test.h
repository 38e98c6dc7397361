// An author with thousands of posts, and a pipeline for which they are many.
#pragma once

#include <optional>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {

class ManyPostsTest : public BlogTest {
 protected:
  ManyPostsTest() {
    execute(
        "insert into blog.posts (id, author_id, title) select i, 1, 'post ' || i from generate_series(1001, "
        "9000) i");
    pipeline_.set_more("[replication]\nfan_out_threshold = 1000\nchunk_documents = 200\n");
  }

  /// Makes each bulk of many documents slow, so that what comes beside it can be seen.
  void slow_down_large_bulks() {
    proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
      if (!RecordingProxy::is_bulk(request) || request.body.size() < 10'000) return std::nullopt;
      return Disturbance{.delay = 200ms};
    });
  }
};

}  // namespace lockstep::support
