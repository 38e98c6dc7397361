// Documents that enter and leave a view because of rows other than their own, by every kind of track; and
// keys whose order or equality isn't that of their bytes.
#include <gtest/gtest.h>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class Partners : public BlogTest {
 protected:
  // Posts of known authors that don't hide, found by the column of the view.
  Partners() {
    execute(
        "create view search.shown as select p.id as _id, p.author_id as _author_id, p.title, a.name from "
        "blog.posts p "
        "join blog.authors a on a.id = p.author_id where a.name not like 'hidden%'");
    pipeline_.add_index("shown", "search.shown",
                        track("blog.posts") + track("blog.authors", {{"column", "_author_id"}}));
    execute("alter table blog.posts drop constraint posts_author_id_fkey");
  }
};

TEST_F(Partners, DocumentsThatAPartnerHidesLeaveTheIndexAndComeBack) {
  bring_up();
  execute("update blog.authors set name = 'hidden ' || name where id in (1, 2)");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  execute("update blog.authors set name = 'shown again' where id = 1");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

TEST_F(Partners, DocumentsWhosePartnerIsDeletedWithoutAForeignKeyLeaveTheIndex) {
  bring_up();
  execute("delete from blog.authors where id = 3");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  execute("insert into blog.authors values (3, 'again')");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  execute("update blog.authors set id = 30 where id = 3");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
  execute("truncate blog.authors cascade");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

TEST_F(Partners, MergeAndUpsertAndSelectForUpdateAreFollowed) {
  follow();
  execute(
      "merge into blog.posts p using (values (1, 'merged'), (500, 'new'), (2, null)) as n(id, title) on n.id "
      "= p.id "
      "when matched and n.title is null then delete when matched then update set title = n.title "
      "when not matched then insert (id, author_id, title) values (n.id, 1, n.title)");
  EXPECT_TRUE(becomes_equal());
  execute(
      "insert into blog.posts (id, author_id, title) values (1, 2, 'a'), (501, 2, 'b') on conflict (id) do "
      "update "
      "set title = excluded.title, author_id = excluded.author_id");
  execute(
      "with gone as (delete from blog.comments where post_id < 5 returning post_id) "
      "update blog.posts set title = 'had comments' where id in (select post_id from gone)");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(Partners, ATruncateInATransactionThatGoesOnIsFollowed) {
  bring_up();
  execute(
      "begin; insert into blog.comments values (100, 1, 'before'); truncate blog.comments; "
      "insert into blog.comments values (101, 2, 'after'); commit");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

// The order of a collation is neither that of bytes nor, for some, one in which different texts differ.
TEST_F(Partners, KeysUnderACollationArePagedAndFollowed) {
  execute(
      "create collation blog.careless (provider = icu, locale = 'und-u-ks-level2', deterministic = false); "
      "create table blog.words (word text collate \"und-x-icu\" primary key, n integer default 0); "
      "insert into blog.words select (array['a', 'A', 'ä', 'Z', 'z', '-', ' ', 'é', '_'])[1 + i % 9] || i % "
      "700 || "
      "(array['', 'b', 'B', '-'])[1 + i % 4] from generate_series(1, 6000) i on conflict do nothing; "
      "create view search.words as select word as _id, n from blog.words; "
      "create table blog.loose (word text collate blog.careless primary key, n integer default 0); "
      "insert into blog.loose select case when i % 2 = 0 then 'Word ' else 'wORD ' end || i from "
      "generate_series(1, 500) i; "
      "create view search.loose as select word collate \"C\" as _id, n from blog.loose");
  pipeline_.set_more("[replication]\nchunk_documents = 400\n");
  pipeline_.add_index("words", "search.words", track("blog.words"));
  pipeline_.add_index("loose", "search.loose", track("blog.loose"));
  bring_up();
  EXPECT_TRUE(is_equal());
  execute(
      "update blog.words set n = 1; delete from blog.words where word like 'z%'; "
      "update blog.loose set word = upper(word) where n = 0; update blog.loose set n = 2");
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());
}

}  // namespace
}  // namespace lockstep::support
