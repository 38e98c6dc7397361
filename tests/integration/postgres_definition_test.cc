// `plan`, `apply` and `remove` on the source's side: what they do, and that they do nothing twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "replicator/error.h"
#include "tests/integration/defined_database.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kBlog = R"sql(
create schema blog;
create table blog.users (id bigint primary key, name text not null, email text);
create table blog.posts (id bigint primary key, user_id bigint references blog.users on delete cascade on update cascade,
                         title text, hits integer not null default 0);
create view blog.documents as
  select p.id as _id, p.user_id as _user_id, p.title, u.name as author
  from blog.posts as p left join blog.users as u on u.id = p.user_id;
)sql";

class BlogTest : public ::testing::Test {
 protected:
  BlogTest() : defined_(kBlog) {
    defined_.add_index("blog.documents", {track("blog.posts"), track_by_column("blog.users", "_user_id")});
  }
  DefinedDatabase defined_;
};

TEST_F(BlogTest, AppliedAgainNothingIsLeftToDo) {
  EXPECT_THAT(defined_.planned(), Contains("create migration 0001_schema"));
  defined_.apply();
  EXPECT_THAT(defined_.planned(), IsEmpty());
  defined_.apply();
  EXPECT_EQ(defined_.jobs(), Lines{"backfill: new index"});
}

TEST_F(BlogTest, ChangesLeadToTheirDocuments) {
  defined_.apply();
  EXPECT_EQ(
      defined_.captured_by(
          "insert into blog.users values (7, 'Ann', 'a@x'); insert into blog.posts values (1, 7, 'One')"),
      (Lines{"blog.users (id): 7", "blog.posts (id): 1"}));
  EXPECT_EQ(defined_.captured_by("update blog.users set name = 'Bo'"), Lines{"blog.users (id): 7"});
  EXPECT_EQ(
      defined_.captured_by("update blog.users set email = 'b@x'; update blog.posts set hits = hits + 1"),
      Lines{});
  EXPECT_EQ(defined_.captured_by("update blog.users set id = 8"),
            (Lines{"blog.users (id): 7 8", "blog.posts (id): 1"}));
  EXPECT_EQ(defined_.captured_by("delete from blog.users"),
            (Lines{"blog.users (id): 8", "blog.posts (id): 1"}));
  EXPECT_EQ(defined_.captured_by("truncate blog.users cascade"),
            (Lines{"blog.users (id): everything", "blog.posts (id): everything"}));
}

TEST_F(BlogTest, RemoveLeavesNothingBehind) {
  defined_.apply();
  defined_.remove();
  EXPECT_EQ(defined_.database().number("select count(*) from pg_trigger where not tgisinternal"), 0);
  EXPECT_EQ(defined_.database().number("select count(*) from pg_namespace where nspname = 'lockstep'"), 0);
  defined_.remove();
  defined_.apply();
  EXPECT_THAT(defined_.planned(), IsEmpty());
}

class ExampleTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ExampleTest, IsAppliedAndThenComplete) {
  const std::string name = GetParam();
  const std::filesystem::path root = LOCKSTEP_SOURCE_DIR;
  DefinedDatabase defined("");
  const std::string schema = name.starts_with("fs") ? "fs" : "blog";
  defined.database().run(root / "schema" / schema / "postgresql" / "install.sql");
  Config config = load_config(root / "config" / (name + ".toml"));
  config.source = defined.config().source;
  defined.config() = config;
  defined.apply();
  EXPECT_THAT(defined.planned(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Examples, ExampleTest,
                         ::testing::Values("fs", "fs-by-id", "blog", "blog-nested", "blog-join"));

}  // namespace
}  // namespace lockstep
