// What libpqxx throws becomes a PostgresError, by its code.
#include "replicator/source/postgres/session/postgres_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pqxx/pqxx>

namespace lockstep {
namespace {

template <typename Thrown>
PostgresError translated(const Thrown& thrown) {
  try {
    translating_postgres_errors("opening a batch", [&] { throw thrown; });
  } catch (const PostgresError& error) {
    return error;
  }
  throw std::logic_error("nothing was thrown");
}

pqxx::sql_error refused(const char* sqlstate) {
  return pqxx::sql_error("ERROR:  no\nDETAIL:  more", "select", sqlstate);
}

TEST(PostgresErrorTest, SaysWhatWasDoneAndKeepsTheServersLines) {
  const PostgresError error = translated(refused("42804"));
  EXPECT_STREQ(error.what(), "opening a batch: ERROR: no DETAIL: more");
  EXPECT_EQ(error.message(), "ERROR:  no\nDETAIL:  more");
  EXPECT_EQ(error.parts().server, Server::kSource);
}

TEST(PostgresErrorTest, TheErrorOfARowShowsNoneOfItsValues) {
  const auto said = [](const char* message, const char* sqlstate) {
    return std::string(translated(pqxx::sql_error(message, "select", sqlstate)).what());
  };
  EXPECT_EQ(said("ERROR:  invalid input syntax for type integer: \"a \"secret\"\"\nCONTEXT:  more", "22P02"),
            "opening a batch: ERROR:  invalid input syntax for type integer: \"…\"");
  EXPECT_EQ(said("ERROR:  division by zero", "22012"), "opening a batch: ERROR:  division by zero");
  EXPECT_EQ(
      said("ERROR:  new row violates check constraint \"adult\"\nDETAIL:  Failing row contains (secret).",
           "23514"),
      "opening a batch: ERROR:  new row violates check constraint \"adult\"");
}

TEST(PostgresErrorTest, ALostConnectionHasNoCodeAndIsWorthARetry) {
  for (const PostgresError& error :
       {translated(pqxx::broken_connection("gone")), translated(pqxx::in_doubt_error("perhaps")),
        translated(pqxx::failure("gone unnoticed"))}) {
    EXPECT_EQ(error.sqlstate(), "");
    EXPECT_TRUE(error.retryable());
    EXPECT_FALSE(error.is_rollback());
  }
}

// It was "Could not obtain client encoding: not connected."
TEST(PostgresErrorTest, ALostConnectionIsCalledThatWhateverLibpqxxCallsIt) {
  for (const char* text : {"Could not obtain client encoding: not connected.",
                           "Connection to database failed", "Lost connection to the database server."}) {
    EXPECT_STREQ(
        translated(pqxx::broken_connection(text)).what(),
        "opening a batch: the connection to PostgreSQL was lost; PostgreSQL's log shows whether it has "
        "ended the session, by transaction_timeout (SQLSTATE 25P04) for instance");
  }
  EXPECT_STREQ(
      translated(pqxx::in_doubt_error("WARNING: Connection lost while committing transaction ''.")).what(),
      "opening a batch: the connection to PostgreSQL was lost in the commit, and it is not known "
      "whether it took effect");
}

TEST(PostgresErrorTest, ATimeoutThatEndsTheSessionIsNamedWithWhatToDo) {
  EXPECT_THAT(translated(refused("25P04")).what(), testing::AllOf(testing::HasSubstr("SQLSTATE 25P04"),
                                                                  testing::HasSubstr("transaction_timeout")));
}

TEST(PostgresErrorTest, WhatPostgresSaidLastIsTold) {
  std::string last_words;
  try {
    translating_postgres_errors(
        "opening a batch",
        [&] {
          last_words = "FATAL: terminating connection";
          throw pqxx::broken_connection("gone");
        },
        last_words);
    FAIL() << "nothing was thrown";
  } catch (const PostgresError& error) {
    EXPECT_STREQ(
        error.what(),
        "opening a batch: the connection to PostgreSQL was lost; the server reported: FATAL: terminating "
        "connection");
  }
}

TEST(PostgresErrorTest, WhatLibpqxxThrowsWithoutItsCodeHasOne) {
  EXPECT_EQ(translated(pqxx::insufficient_privilege("no")).sqlstate(), sqlstate::kInsufficientPrivilege);
  EXPECT_EQ(translated(pqxx::serialization_failure("no")).sqlstate(), sqlstate::kSerializationFailure);
  EXPECT_EQ(translated(pqxx::deadlock_detected("no")).sqlstate(), sqlstate::kDeadlockDetected);
  EXPECT_EQ(translated(pqxx::statement_completion_unknown("no")).sqlstate(),
            sqlstate::kStatementCompletionUnknown);
  EXPECT_EQ(translated(pqxx::transaction_rollback("no")).sqlstate(), sqlstate::kTransactionRollback);
}

TEST(PostgresErrorTest, TheCodeDecidesWhetherARetryMakesSense) {
  for (const char* code :
       {"08006", "40001", "40P01", "53100", "58030", "55P03", "57014", "57P01", "57P03", "25P03", "25P04"}) {
    EXPECT_TRUE(translated(refused(code)).retryable()) << code;
  }
  for (const char* code : {"22012", "23505", "42501", "42601", "42P01", "55000", "57000", "XX000"}) {
    EXPECT_FALSE(translated(refused(code)).retryable()) << code;
  }
}

TEST(PostgresErrorTest, TheCodeDecidesTheRemedy) {
  EXPECT_THAT(translated(pqxx::insufficient_privilege("no")).what(), testing::HasSubstr("grant"));
  for (const char* code : {"42P01", "42703", "42883", "3F000"}) {
    EXPECT_THAT(translated(refused(code)).what(), testing::HasSubstr("`lockstep apply`")) << code;
  }
}

TEST(PostgresErrorTest, ClassesAreTold) {
  EXPECT_TRUE(translated(refused("22P02")).is_data_exception());
  EXPECT_FALSE(translated(refused("42P02")).is_data_exception());
  EXPECT_TRUE(translated(pqxx::deadlock_detected("no")).is_rollback());
  EXPECT_FALSE(translated(refused("22P02")).is_rollback());
}

TEST(PostgresErrorTest, AnErrorOfOurOwnPassesUnchanged) {
  EXPECT_THROW(translating_postgres_errors("a step", [] { throw Deposed("another leads"); }), Deposed);
}

}  // namespace
}  // namespace lockstep
