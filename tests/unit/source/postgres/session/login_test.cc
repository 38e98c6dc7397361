#include "replicator/source/postgres/session/login.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LoginTest, TheCodeIsFoundWhateverTheServersLanguage) {
  const auto refusal = read_refusal(
      "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: Passwort-Authentifizierung "
      "für "
      "Benutzer »lockstep« fehlgeschlagen\nLOCATION:  auth_failed, auth.c:313\n");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->sqlstate, "28P01");
  EXPECT_EQ(refusal->message, "Passwort-Authentifizierung für Benutzer »lockstep« fehlgeschlagen");
}

TEST(LoginTest, OfSeveralServersTheLastOneCounts) {
  const auto refusal = read_refusal(
      "connection to server at \"one\" failed: FATAL:  57P03: the database system is starting up\n"
      "connection to server at \"two\" failed: FATAL:  3D000: database \"a:  b: c\" does not exist\n");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->sqlstate, "3D000");
  EXPECT_EQ(refusal->message, "database \"a:  b: c\" does not exist");
}

TEST(LoginTest, WhoDoesNotAnswerRefusesNothing) {
  for (const char* text : {"", "connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n",
                           "could not translate host name \"a:  b\" to address", "FATAL:  28p01: x"})
    EXPECT_FALSE(read_refusal(text)) << text;
}

PostgresError error_of(const LoginRefusal& refusal) {
  try {
    throw_refused_login("connecting", refusal);
  } catch (const PostgresError& error) {
    return error;
  }
}

TEST(LoginTest, WhatSomebodyHasToMendIsToldFromWhatPasses) {
  for (const char* const code : {"", "28P01", "28000", "3D000", "42501", "55000"}) {
    const PostgresError error = error_of({code, "said so", "shop_sync", "shop"});
    EXPECT_FALSE(error.retryable()) << code;
    EXPECT_THAT(error.what(),
                HasSubstr("PostgreSQL refuses the role shop_sync in the database shop: said so"));
    EXPECT_NE(error.parts().remedy, "") << code;
  }
  for (const char* const code : {"53300", "57P03", "XX000"}) {
    const PostgresError error = error_of({code, "said so", "shop_sync", "shop"});
    EXPECT_TRUE(error.retryable()) << code;
    EXPECT_THAT(error.what(), HasSubstr(std::string("takes no connection now: said so (SQLSTATE ") + code));
  }
}

TEST(LoginTest, ARefusedLoginIsAWrongConfiguration) {
  EXPECT_THROW(throw_refused_login("connecting", {"28P01", "no", "me", "shop"}), WrongConfiguration);
  EXPECT_THROW(throw_refused_login("connecting", {"53300", "no", "me", "shop"}), PostgresError);
}

TEST(LoginTest, InitNamesNoKeyOfAConfigurationThatDoesNotExist) {
  for (const char* const code : {"", "28P01", "28000", "3D000"}) {
    const RefusedLogin error("connecting", {code, "no", "me", "shop"}, UrlFrom::kConfiguration);
    EXPECT_THAT(error.what(), HasSubstr("source.")) << code;
    EXPECT_THAT(error.of_command_line().what(), Not(HasSubstr("source."))) << code;
    EXPECT_THAT(error.of_command_line().what(), HasSubstr("url")) << code;
  }
}

}  // namespace
}  // namespace lockstep
