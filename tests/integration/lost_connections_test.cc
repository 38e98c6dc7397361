// What is said when PostgreSQL ends a session, at each kind of moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "replicator/source/postgres/session/session.h"
#include "replicator/source/postgres/session/transaction.h"
#include "replicator/source/postgres/watch/awaited.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/postgres_database.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LostConnections : public testing::Test {
 protected:
  LostConnections() {
    source_.url = database_.url();
    session_ = std::make_unique<PostgresSession>(source_, "test lost");
    pid_ = session_->connection().backendpid();
  }

  std::string pid() const { return std::to_string(pid_); }

  /// Ends the session, and waits until it is gone.
  void terminate() {
    database_.execute("select pg_terminate_backend(" + pid() + ")");
    ASSERT_TRUE(support::wait_until(
        [this] {
          return database_.number("select count(*) from pg_stat_activity where pid = " + pid()) == 0;
        },
        support::kPatience));
  }

  /// Ends it as soon as it runs a statement.
  std::jthread terminate_in_statement() {
    return std::jthread([connection = database_.connect(), pid = pid()] {
      const std::string in_statement =
          "select 1 from pg_stat_activity where state = 'active' and pid = " + pid;
      support::wait_until([&] { return !support::execute(*connection, in_statement).empty(); },
                          support::kPatience);
      support::execute(*connection, "select pg_terminate_backend(" + pid + ")");
    });
  }

  /// What a step says, which must be worth a retry.
  static std::string said(const std::function<void()>& step) {
    try {
      step();
    } catch (const PostgresError& error) {
      EXPECT_TRUE(error.retryable());
      EXPECT_EQ(error.parts().server, Server::kSource);
      return error.what();
    }
    return "nothing";
  }

  support::PostgresDatabase database_;
  SourceConfig source_;
  std::unique_ptr<PostgresSession> session_;
  int pid_ = 0;
};

constexpr const char* kLost = "the connection to PostgreSQL was lost";
constexpr const char* kLastWords =
    "the server reported: FATAL: terminating connection due to administrator command";

// It was "Could not obtain client encoding: not connected.", with nothing of what the server had said.
TEST_F(LostConnections, AnIdleSessionThatIsEndedIsCalledLostWithTheServersLastWords) {
  terminate();
  EXPECT_THAT(said([&] { session_->ask("asking", "select 1"); }),
              AllOf(HasSubstr("asking: "), HasSubstr(kLost), HasSubstr(kLastWords)));
  EXPECT_FALSE(session_->is_open());
  EXPECT_THAT(said([&] { session_->ask("asking again", "select 2"); }),
              AllOf(HasSubstr(kLost), HasSubstr(kLastWords)));
  EXPECT_NO_THROW(session_->cancel()) << "there is nothing to cancel";
}

TEST_F(LostConnections, OneThatIsEndedBeforeATransactionIsCalledLost) {
  terminate();
  EXPECT_THAT(said([&] { PostgresTransaction(*session_, "opening a batch").execute("select 1"); }),
              AllOf(HasSubstr("opening a batch: "), HasSubstr(kLost), HasSubstr(kLastWords)));
}

TEST_F(LostConnections, OneThatIsEndedInAStatementIsCalledLost) {
  const std::jthread killer = terminate_in_statement();
  EXPECT_THAT(said([&] { session_->ask("waiting", "select pg_sleep(60)"); }), HasSubstr(kLost));
}

// The second statement was said to be a mistake in the program, and the third one ran: on a new connection,
// without the session's settings and locks, and it committed by itself.
TEST_F(LostConnections, NothingRunsOnAfterASessionIsLost) {
  database_.execute("create table public.written (id integer)");
  {
    PostgresTransaction transaction(*session_, "writing", Isolation::kReadCommitted);
    const auto write = [&] { transaction.run("insert into public.written values (1)"); };
    write();
    terminate();
    for (int i = 0; i < 4; ++i) EXPECT_THAT(said(write), HasSubstr(kLost));
    EXPECT_THAT(said([&] { transaction.execute("insert into public.written values (2)"); }),
                HasSubstr(kLost));
    EXPECT_THAT(said([&] { transaction.commit(); }), HasSubstr(kLost));
  }
  for (int i = 0; i < 4; ++i)
    EXPECT_THAT(said([&] { session_->ask("asking", "select 1"); }), HasSubstr(kLost));
  EXPECT_EQ(database_.number("select count(*) from public.written"), 0);
}

TEST_F(LostConnections, OneThatIsEndedBeforeItsCommitLeavesTheCommitInDoubt) {
  PostgresTransaction transaction(*session_, "saving");
  transaction.run("select pg_current_xact_id()");
  terminate();
  EXPECT_THAT(said([&] { transaction.commit(); }),
              HasSubstr("saving: the connection to PostgreSQL was lost in the commit, and it is not known "
                        "whether it took effect"));
}

TEST_F(LostConnections, OneThatIsEndedWhileItListensIsCalledLost) {
  PostgresAwaited awaited(session_->connection(), "test");
  const auto look = [&] {
    return said([&] {
      session_->translating("listening", [&] { awaited.is_awaited(std::chrono::steady_clock::now()); });
    });
  };
  EXPECT_EQ(look(), "nothing");
  terminate();
  std::string found;
  EXPECT_TRUE(support::wait_until([&] { return (found = look()) != "nothing"; }, support::kPatience));
  EXPECT_THAT(found, AllOf(HasSubstr(kLost), HasSubstr(kLastWords)));
}

TEST_F(LostConnections, AConnectionThatNeverCameAboutSaysWhy) {
  source_.url = "postgresql://postgres@127.0.0.1:1/nowhere";
  EXPECT_THAT(said([&] { PostgresSession(source_, "test refused"); }),
              AllOf(HasSubstr("Connection refused; Is the server running"), Not(HasSubstr(kLost))));
}

TEST_F(LostConnections, ANoticeOfTheApplicationIsNobodysLastWord) {
  session_->ask("noticing", "do $$ begin raise warning 'a secret value'; end $$");
  terminate();
  EXPECT_THAT(said([&] { session_->ask("asking", "select 1"); }),
              AllOf(HasSubstr(kLastWords), Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace lockstep
