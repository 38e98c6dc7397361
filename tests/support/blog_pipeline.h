// What most tests start from: a small blog with authors, posts and comments, one index of its visible posts,
// and a recorder between the program and Elasticsearch.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/recording_proxy.h"

namespace lockstep::support {

using namespace std::chrono_literals;

class BlogTest : public testing::Test {
 protected:
  BlogTest();

  /// On a failure, what the program in the background wrote; and never a version that fell.
  void TearDown() override;

  /// apply, and everything that is there is in Elasticsearch.
  void bring_up();
  /// bring_up() and `run` in the background, which leads. Throws std::runtime_error when it does not.
  void follow();
  /// Whether the log of `run` in the background says so.
  bool leads() const;
  /// kill -9, if it runs.
  void kill();
  /// Starts `run` again.
  void restart();
  /// The URL of the HTTP that `run` in the background says in its log that it serves.
  std::string endpoint();

  void execute(const std::string& sql) { database_.execute(sql); }

  /// The document, or "none".
  std::string document(const std::string& id) const;
  /// Whether the document becomes `json` soon.
  testing::AssertionResult becomes(const std::string& id, const std::string& json,
                                   std::chrono::milliseconds deadline = kPatience);
  testing::AssertionResult appears(const std::string& id) const;
  testing::AssertionResult disappears(const std::string& id) const;
  /// Whether index and view become equal soon.
  testing::AssertionResult becomes_equal();
  testing::AssertionResult is_equal();

  /// Rows that the triggers have written until now.
  std::int64_t outbox_rows() { return database_.number("select count(*) from lockstep.outbox"); }
  std::int64_t dead_letters() { return database_.number("select count(*) from lockstep.dead_letter"); }

  PostgresDatabase database_;
  RecordingProxy proxy_;
  PipelineUnderTest pipeline_;
  ElasticsearchIndex& posts_;
  std::unique_ptr<Program> program_;
};

/// The tracks of search.posts.
std::string blog_tracks();

}  // namespace lockstep::support
