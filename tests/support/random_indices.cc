#include "tests/support/random_indices.h"

namespace lockstep::support {

std::vector<std::string> add_random_indices(PipelineUnderTest& pipeline) {
  pipeline.add_index("users", "search.users", track("app.users") + track("app.posts", {{"row", "user_id"}}));
  pipeline.add_index(
      "posts", "search.posts",
      track("app.posts") + track("app.users", {{"column", "_user_id"}}) +
          track("app.comments", {{"row", "post_id"}}) + track("app.post_tags", {{"row", "post_id"}}) +
          track("app.tags", {{"keys", "select post_id from app.post_tags where tag = any($1)"}}) +
          track("app.notices", {{"row", "post_id"}}));
  pipeline.add_index(
      "comments", "search.comments",
      track("app.comments") +
          track("app.posts", {{"keys", "select id from app.comments where post_id = any($1)"}}) +
          track("app.users", {{"keys", "select id from app.comments where author_id = any($1)"}}));
  pipeline.add_index("tags", "search.tags", track("app.tags") + track("app.post_tags", {{"row", "tag"}}));
  pipeline.add_index("events", "search.events", track("app.events", {{"row", "kind || '/' || id"}}));
  return {"users", "posts", "comments", "tags", "events"};
}

}  // namespace lockstep::support
