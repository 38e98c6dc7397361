// Three roles, each with no right too many: an owner applies, the program runs with exactly what plan prints,
// and an application that knows nothing of lockstep writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

class ProgramRoles : public BlogTest {
 protected:
  ProgramRoles()
      : owner_(database_.create_role("owner")),
        runner_(database_.create_role("runner")),
        application_(database_.create_role("app")) {
    execute("grant create on database " + database_.name() + " to " + owner_ +
            "; alter schema blog owner to " + owner_ + "; alter schema search owner to " + owner_ +
            "; alter view search.posts owner to " + owner_ + "; alter table blog.posts owner to " + owner_ +
            "; alter table blog.authors owner to " + owner_ + "; alter table blog.comments owner to " +
            owner_ + "; grant usage on schema blog to " + application_ +
            "; grant select, insert, update, delete on all tables in schema blog to " + application_);
  }

  // The statements that plan prints for the role that runs: its last part, behind a comment.
  std::vector<std::string> printed_grants() {
    std::istringstream plan(pipeline_.must("plan", {"--role", runner_}));
    std::vector<std::string> statements;
    bool begun = false;
    for (std::string line; std::getline(plan, line);) {
      if (begun) statements.push_back(line);
      if (line.starts_with("-- ")) begun = true;
    }
    return statements;
  }

  std::string owner_;
  std::string runner_;
  std::string application_;
};

TEST_F(ProgramRoles, TheOwnerAppliesTheProgramRunsWithThePrintedGrantsAndAnybodyWrites) {
  pipeline_.set_role(owner_);
  pipeline_.apply();
  const std::vector<std::string> grants = printed_grants();
  ASSERT_FALSE(grants.empty());
  pipeline_.set_role(runner_);
  EXPECT_NE(pipeline_.lockstep("run", {"--until-caught-up"}).exit_code, 0) << "it needed no grant";
  const auto owner = database_.connect_as(owner_);
  for (const std::string& grant : grants) support::execute(*owner, grant);
  pipeline_.catch_up();
  EXPECT_TRUE(is_equal());

  const auto application = database_.connect_as(application_);
  support::execute(
      *application,
      "insert into blog.posts (id, author_id, title) values (100, 1, 'by the application'); "
      "update blog.authors set name = 'renamed' where id = 1; delete from blog.comments where id = 1");
  EXPECT_THROW(support::execute(*application, "select * from lockstep.outbox"), pqxx::insufficient_privilege);
  program_ = pipeline_.start();
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(appears("100"));
  EXPECT_EQ(pipeline_.lockstep("status").exit_code, 0);
  EXPECT_EQ(pipeline_.lockstep("wait", {"--refresh"}).exit_code, 0);
}

// The leader gave the lead away again and again, and small changes took seconds.
TEST_F(ProgramRoles, ARoleWithoutASecondConnectionKeepsTheLeadAndFollows) {
  pipeline_.set_role(owner_);
  pipeline_.apply();
  execute("alter role " + owner_ + " connection limit 1");
  program_ = pipeline_.start();
  const auto says_why = [&] {
    return program_->err().find(
               "is tried again: connecting to the source: PostgreSQL takes no connection now") !=
           std::string::npos;
  };
  ASSERT_TRUE(wait_until(says_why, kPatience)) << program_->err();
  const auto epoch = [&] { return database_.number("select max(epoch) from lockstep.checkpoint"); };
  const std::int64_t before = epoch();
  execute("insert into blog.posts (id, author_id, title) values (100, 1, 'small')");
  EXPECT_TRUE(appears("100")) << program_->err();
  EXPECT_FALSE(wait_until([&] { return epoch() != before; }, std::chrono::seconds(5)));
  execute("alter role " + owner_ + " connection limit -1");
  EXPECT_TRUE(becomes_equal()) << program_->err();
}

TEST_F(ProgramRoles, TheRunningRoleMayLookAfterTheDeadLetters) {
  pipeline_.set_role(owner_);
  pipeline_.apply();
  const auto owner = database_.connect_as(owner_);
  for (const std::string& grant : printed_grants()) support::execute(*owner, grant);
  pipeline_.set_role(runner_);
  pipeline_.catch_up();
  for (const char* action : {"retry", "discard"}) {
    execute(
        "insert into lockstep.dead_letter (index, id, version, status, error_type, reason) "
        "select id, '1', 0, 400, 'type', 'reason' from lockstep.index");
    EXPECT_NE(pipeline_.must("dead-letters", {"list"}).find("\"1\""), std::string::npos);
    EXPECT_NE(pipeline_.must("dead-letters", {"show", "1"}).find("post 1"), std::string::npos);
    std::vector<std::string> arguments{action, "1"};
    if (action == std::string("discard")) arguments.push_back("--yes");
    const Completed done = pipeline_.lockstep("dead-letters", arguments);
    EXPECT_EQ(done.exit_code, 0) << action << ": " << done.err;
    EXPECT_EQ(dead_letters(), 0) << action;
  }
}

TEST_F(ProgramRoles, TheRunningRoleCanChangeNothingOfTheUsers) {
  pipeline_.set_role(owner_);
  pipeline_.apply();
  const auto owner = database_.connect_as(owner_);
  for (const std::string& grant : printed_grants()) support::execute(*owner, grant);
  const auto runner = database_.connect_as(runner_);
  for (const char* forbidden :
       {"update blog.posts set title = 'x'", "delete from blog.authors",
        "insert into blog.comments values (99, 1, 'x')", "create table blog.mine (id integer)",
        "create table lockstep.mine (id integer)", "drop view search.posts"}) {
    EXPECT_THROW(support::execute(*runner, forbidden), pqxx::sql_error) << forbidden;
  }
}

TEST_F(ProgramRoles, AMissingGrantIsNamedWithTheStatementThatMendsIt) {
  pipeline_.set_role(owner_);
  pipeline_.apply();
  const auto owner = database_.connect_as(owner_);
  for (const std::string& grant : printed_grants()) support::execute(*owner, grant);
  support::execute(*owner, "revoke select on search.posts from " + runner_);
  pipeline_.set_role(runner_);
  const Completed run = pipeline_.lockstep("run", {"--until-caught-up"});
  EXPECT_NE(run.exit_code, 0);
  std::string said = run.out + run.err;
  std::transform(said.begin(), said.end(), said.begin(), [](unsigned char c) { return std::tolower(c); });
  EXPECT_NE(said.find("grant"), std::string::npos) << said;
  EXPECT_NE(said.find("posts"), std::string::npos) << said;
}

}  // namespace
}  // namespace lockstep::support
