#include "replicator/source/sqlite/view_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replicator/error.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SqliteViewReaderTest : public testing::Test {
 protected:
  SqliteViewReaderTest()
      : application_(folder_.file("app.db")),
        config_(sqlite_config(folder_.file("app.db"), {sqlite_index("documents", {sqlite_track("posts")})})) {
    application_.execute(
        "create table posts (id integer primary key, title text);"
        "insert into posts values (1, 'one'), (2, 'two');"
        "create view documents as select id as _id, title from posts");
  }

  const ApplicationFolder folder_;
  Application application_;
  Config config_;
};

TEST_F(SqliteViewReaderTest, ReadsViewsThatNobodyHasApplied) {
  SqliteViewReader reader(config_);
  ASSERT_EQ(reader.indices().size(), 1U);
  const AppliedIndex& index = reader.indices().front();
  EXPECT_EQ(index.alias, config_.indices.front().alias);
  std::vector<std::string> documents;
  const ViewPageEnd page =
      reader.read()->render_page(index, std::nullopt, 10, 1000, [&](const RenderedDocument& document) {
        documents.push_back(std::string(document.id) + " " + std::string(*document.json));
      });
  EXPECT_TRUE(page.end);
  EXPECT_THAT(documents, ElementsAre(R"(1 {"title":"one"})", R"(2 {"title":"two"})"));
  const std::vector<StaleDocument> stale = reader.read()->stale(index, {{{"2"}, ""}, {{"3"}, ""}});
  ASSERT_EQ(stale.size(), 1U);
  EXPECT_EQ(stale.front().found.id.text, "3");
  EXPECT_THAT(application_.column("select name from sqlite_master where name like 'lockstep%'"),
              testing::IsEmpty());
}

TEST_F(SqliteViewReaderTest, AViewThatDoesNotFitIsNamed) {
  config_.indices.front().view = "nothing";
  EXPECT_THAT([&] { SqliteViewReader reader(config_); },
              testing::ThrowsMessage<UsageError>(HasSubstr("nothing")));
}

}  // namespace
}  // namespace lockstep
