// Others write into our index. Elasticsearch counts a document's version on for them, and turned our next
// writes down as if we had written something newer: committed changes were lost, and `wait` said done.
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class ForeignWrites : public BlogTest {
 protected:
  // All documents have versions of the leadership that follows them, and Elasticsearch soon forgets the
  // versions of what was deleted.
  void follow_all() {
    pipeline_.set_more("[http]\nlisten = '127.0.0.1:0'\n");
    follow();
    execute("update blog.posts set title = 'followed'");
    ASSERT_TRUE(becomes_equal());
    posts_.server().expect("PUT", "/" + posts_.alias() + "/_settings", R"({"index.gc_deletes": "1s"})");
  }

  std::string path_of(const std::string& id) const { return "/" + posts_.alias() + "/_doc/" + id; }

  void put(const std::string& id, const std::string& version) {
    posts_.server().expect("PUT", path_of(id) + "?version_type=external&version=" + version,
                           R"({"title": "a stranger's"})");
  }

  // In one request: the leader's versions rise with each transaction on the server, and would pass the
  // stranger's on a slow machine.
  void update_often(const std::string& id) {
    std::string body;
    for (int i = 0; i < 1'000; ++i) {
      body += R"({"update": {"_id": ")" + id + "\"}}\n" + R"({"doc": {"title": "a stranger's )" +
              std::to_string(i) + "\"}}\n";
    }
    posts_.server().expect("POST", "/" + posts_.alias() + "/_bulk", body);
  }

  std::size_t lines_with(const std::string& text) const {
    std::size_t count = 0;
    const std::string log = program_->err();
    for (std::size_t at = 0; (at = log.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  }
};

TEST_F(ForeignWrites, AnUpdateByQueryWhileChangesFlowLosesNoChange) {
  follow_all();
  for (int i = 0; i < 20; ++i) {
    posts_.server().expect("POST", "/" + posts_.alias() + "/_update_by_query?conflicts=proceed&refresh=true");
    execute("update blog.posts set title = 'now " + std::to_string(i) +
            "' where id % 3 = " + std::to_string(i % 3));
  }
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
}

TEST_F(ForeignWrites, AThousandUpdatesOfADocumentDoNotHideItsNextChange) {
  follow_all();
  update_often("1");
  update_often("2");
  execute("update blog.posts set title = 'ours' where id in (1, 2)");
  const Completed waited = pipeline_.lockstep("wait", {"--timeout", "60s"});
  EXPECT_EQ(waited.exit_code, 0) << waited.err;
  EXPECT_TRUE(is_equal()) << "when `wait` says so";
  update_often("3");
  update_often("3");
  execute("update blog.posts set title = 'ours' where id = 3");
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(lines_with("something else writes into it"), 1U) << "once an hour";
  const std::string name =
      "lockstep_foreign_writes_total{pipeline=\"test\",index=\"" + posts_.alias() + "\"} ";
  const auto counted = [&] {
    const std::string metrics = run_program("curl", {"-s", "-S", endpoint() + "/metrics"}).out;
    const std::size_t found = metrics.find(name);
    return found == std::string::npos ? 0 : std::stoi(metrics.substr(found + name.size()));
  };
  EXPECT_TRUE(wait_until([&] { return counted() >= 1; }, kPatience)) << counted();
}

// One of this leadership's epoch, microseconds and nanoseconds since 1970, and the greatest number of all.
TEST_F(ForeignWrites, AVersionFarAboveOursDoesNotKeepADocumentAsItIs) {
  follow_all();
  const std::vector<std::string> versions = {"2200000000000", "1700000000000000", "1700000000000000000",
                                             "9223372036854775807"};
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string id = std::to_string(i + 1);
    put(id, versions[i]);
    execute("update blog.posts set title = 'ours' where id = " + id);
    // The repair that comes of a repair is waited for, too.
    EXPECT_EQ(pipeline_.lockstep("wait", {"--timeout", "150s"}, std::chrono::seconds(160)).exit_code, 0);
    EXPECT_NE(document(id).find("ours"), std::string::npos) << versions[i];
    EXPECT_TRUE(becomes_equal()) << versions[i];
    execute("update blog.posts set title = 'ours again' where id = " + id);
    EXPECT_TRUE(becomes_equal()) << versions[i];
  }
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0);
}

TEST_F(ForeignWrites, ADocumentThatIsDeletedAfterAForeignWriteGoes) {
  follow_all();
  update_often("4");
  put("5", "1700000000000000");
  execute("delete from blog.posts where id in (4, 5)");
  EXPECT_TRUE(disappears("4"));
  EXPECT_TRUE(disappears("5"));
  execute("insert into blog.posts (id, author_id, title) values (4, 1, 'back'), (5, 1, 'back')");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(ForeignWrites, AForeignDeleteDoesNotHideTheNextChange) {
  follow_all();
  posts_.server().expect("DELETE", path_of("6") + "?version_type=external&version=1700000000000000");
  execute("update blog.posts set title = 'ours' where id = 6");
  EXPECT_TRUE(becomes_equal());
}

}  // namespace
}  // namespace lockstep::support
