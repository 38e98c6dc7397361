// A PostgreSQL that answers and does not let us in is told from one that is away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/error_class.h"
#include "replicator/source/postgres/session/session.h"
#include "tests/support/postgres_database.h"

namespace lockstep::support {
namespace {

using testing::HasSubstr;

class Logins : public testing::Test {
 protected:
  Logins() { database_.execute("create role " + role_ + " login"); }
  ~Logins() override { database_.execute("drop role " + role_); }

  /// Why the session cannot be opened.
  PostgresError refusal(const std::string& url) {
    SourceConfig source;
    source.url = url;
    try {
      PostgresSession(source, "test");
    } catch (const PostgresError& error) {
      return error;
    }
    throw std::logic_error("it was let in");
  }

  PostgresDatabase database_;
  const std::string role_ = database_.name() + "_role";
};

TEST_F(Logins, ARoleThatMayNotLogInIsRefusedForGood) {
  database_.execute("alter role " + role_ + " nologin");
  const PostgresError error = refusal(database_.url_as(role_));
  EXPECT_EQ(class_of(error), "source_refuses");
  EXPECT_EQ(error.sqlstate(), "28000");
  EXPECT_THAT(error.what(), HasSubstr("connecting to the source: PostgreSQL refuses the role " + role_ +
                                      " in the database " + database_.name() + ": role \"" + role_ +
                                      "\" is not permitted to log in (SQLSTATE 28000, server "));
  EXPECT_THAT(error.what(),
              HasSubstr("); create the role, or correct the user in source.url; or let it log in"));
}

TEST_F(Logins, ADatabaseThatIsNotThereIsRefusedForGood) {
  std::string url = database_.url();
  const PostgresError error =
      refusal(url.replace(url.find(database_.name()), database_.name().size(), "gone"));
  EXPECT_EQ(class_of(error), "source_refuses");
  EXPECT_EQ(error.sqlstate(), "3D000");
}

TEST_F(Logins, AServerWithoutRoomIsWorthARetryAndSaysSo) {
  database_.execute("alter role " + role_ + " connection limit 0");
  const PostgresError error = refusal(database_.url_as(role_));
  EXPECT_TRUE(error.retryable());
  EXPECT_EQ(error.sqlstate(), "53300");
  EXPECT_THAT(error.what(), HasSubstr("PostgreSQL takes no connection now: too many connections for role"));
}

TEST_F(Logins, AServerThatIsNotThereIsAway) {
  const PostgresError error = refusal("postgresql://lockstep@127.0.0.1:1/shop");
  EXPECT_EQ(class_of(error), "source_away");
  EXPECT_EQ(error.sqlstate(), "");
}

}  // namespace
}  // namespace lockstep::support
