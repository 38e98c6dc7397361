// What a view says is what an index holds: rows that enter and leave it, partners that change, keys that
// change, and updates that touch nothing it reads.
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"
#include "tests/support/canonical_json.h"

namespace lockstep::support {
namespace {

class Views : public BlogTest {};

TEST_F(Views, RowsThatLeaveTheViewAreDeletedAndThoseThatReturnComeBack) {
  follow();
  execute("update blog.posts set visible = false where id in (3, 4)");
  EXPECT_TRUE(disappears("3"));
  EXPECT_TRUE(disappears("4"));
  execute("update blog.posts set visible = true, title = 'back' where id = 3");
  EXPECT_TRUE(appears("3"));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Views, DocumentsFollowWhenTheirPartnersChange) {
  follow();
  execute("update blog.authors set name = 'renamed' where id = 3");
  EXPECT_TRUE(becomes(
      "2", R"({"title":"post 2","body":null,"author":"renamed","comments":["comment 1","comment 21"]})"));
  execute("update blog.comments set post_id = 2 where id = 5");  // from post 6
  EXPECT_TRUE(becomes(
      "2",
      R"({"title":"post 2","body":null,"author":"renamed","comments":["comment 1","comment 5","comment 21"]})"));
  EXPECT_TRUE(
      becomes("6", R"({"title":"post 6","body":null,"author":"author 2","comments":["comment 25"]})"));
  execute("delete from blog.comments where post_id = 2");
  EXPECT_TRUE(becomes("2", R"({"title":"post 2","body":null,"author":"renamed","comments":null})"));
  execute("delete from blog.authors where id = 3");  // on delete set null
  EXPECT_TRUE(becomes("2", R"({"title":"post 2","body":null,"author":null,"comments":null})"));
  execute("update blog.posts set author_id = 4 where id = 2");
  EXPECT_TRUE(becomes("2", R"({"title":"post 2","body":null,"author":"author 4","comments":null})"));
  EXPECT_TRUE(becomes_equal());
}

// A column of the name that the renderer gave to the whole document stood in the document's place.
TEST_F(Views, AColumnMayHaveAnyName) {
  execute(
      "create type blog.address as (street text, zip text); "
      "create table blog.places (id integer primary key, address blog.address); "
      "insert into blog.places values (1, ('High Street', '1')), (2, null); "
      "create view search.places as select id as _id, address as f, id * 2 as v, id as d, address as r, id "
      "as "
      "\"order\", id as json from blog.places");
  pipeline_.add_index("places", "search.places", track("blog.places"));
  bring_up();
  EXPECT_EQ(
      pipeline_.index("places").get("1")->json,
      canonical_json(
          R"({"f": {"street": "High Street", "zip": "1"}, "v": 2, "d": 1, "r": {"street": "High Street", "zip": "1"}, "order": 1, "json": 1})"));
}

TEST_F(Views, UpdatesThatTouchNoColumnOfTheViewWriteNothingIntoTheOutbox) {
  bring_up();
  const auto before = outbox_rows();
  execute("update blog.posts set seen = seen + 1");
  execute("update blog.authors set email = 'new@example.org', bio = repeat('x', 5000)");
  execute("update blog.posts set title = title, visible = visible");
  EXPECT_EQ(outbox_rows(), before);
  execute("update blog.posts set seen = 0, title = 'changed' where id = 1");
  EXPECT_GT(outbox_rows(), before);
}

TEST_F(Views, AChangedPrimaryKeyLeavesNoOldDocument) {
  follow();
  execute("update blog.posts set id = 1000 where id = 7");
  EXPECT_TRUE(appears("1000"));
  EXPECT_TRUE(disappears("7"));
  execute(
      "begin; update blog.posts set id = 1001 where id = 8; update blog.posts set id = 8 where id = 9; "
      "commit");
  EXPECT_TRUE(becomes_equal());
  execute("update blog.authors set id = 50 where id = 1");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Views, AnUnchangedLargeValueSurvivesAnUpdateBesideIt) {
  execute("alter table blog.posts alter body set storage external");
  execute("update blog.posts set body = repeat('large ', 50000) where id = 1");
  follow();
  execute("update blog.posts set title = 'beside' where id = 1");
  EXPECT_TRUE(wait_until([&] { return document("1").find("\"beside\"") != std::string::npos; }, kPatience));
  EXPECT_EQ(document("1").find("null"), std::string::npos) << "the body or the author is gone";
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Views, CreateUpdateDeleteInOneTransactionEndsAsTheLastOne) {
  bring_up();
  execute(
      "begin; insert into blog.posts (id, title) values (100, 'a'); update blog.posts set title = 'b' where "
      "id = 100; "
      "delete from blog.posts where id = 100; commit");
  execute(
      "begin; delete from blog.posts where id = 1; insert into blog.posts (id, title) values (1, 'again'); "
      "commit");
  execute(
      "begin; update blog.posts set title = 'gone' where id = 2; delete from blog.posts where id = 2; "
      "commit");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  EXPECT_FALSE(posts_.get("100"));
  EXPECT_FALSE(posts_.get("2"));
  EXPECT_NE(document("1").find("again"), std::string::npos);
}

TEST_F(Views, CascadesReachTheDocuments) {
  follow();
  execute("delete from blog.posts where id <= 10");
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(posts_.count(), 10);
}

TEST_F(Views, TwentyThousandChildrenAllReachTheirParents) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1 + i % 5, 'post ' || i from "
      "generate_series(1001, 2000) i");
  follow();
  for (int i = 0; i < 20; ++i) {
    execute("insert into blog.comments select 1000 + i, 1001 + i % 1000, 'c' || i from generate_series(" +
            std::to_string(i * 1000) + ", " + std::to_string(i * 1000 + 999) + ") i");
  }
  EXPECT_TRUE(becomes_equal());
}

// A table whose partitions are written through the parent and directly.
class PartitionedViews : public BlogTest {
 protected:
  PartitionedViews() {
    execute(
        "create table blog.measures (region text, id integer, value integer, primary key (region, id)) "
        "partition by list (region); "
        "create table blog.measures_eu partition of blog.measures for values in ('eu'); "
        "create table blog.measures_us partition of blog.measures for values in ('us'); "
        "insert into blog.measures select 'eu', i, i from generate_series(1, 10) i; "
        "create view search.measures as select region || ':' || id as _id, value from blog.measures");
    pipeline_.add_index("measures", "search.measures",
                        track("blog.measures", {{"row", "region || ':' || id"}}));
  }
};

TEST_F(PartitionedViews, PartitionsAreFollowedWhetherTheParentOrAPartitionIsWritten) {
  follow();
  execute("insert into blog.measures values ('us', 1, 1)");
  execute("insert into blog.measures_us values ('us', 2, 2)");
  execute("update blog.measures_eu set value = 100 where id = 1");
  execute("delete from blog.measures_eu where id = 2");
  execute("update blog.measures set value = 300 where id = 3");
  EXPECT_TRUE(becomes_equal());
  execute("update blog.measures set region = 'us' where id = 5");  // moves to another partition
  EXPECT_TRUE(becomes_equal());
  execute("truncate blog.measures_us");
  EXPECT_TRUE(becomes_equal());
}

}  // namespace
}  // namespace lockstep::support
