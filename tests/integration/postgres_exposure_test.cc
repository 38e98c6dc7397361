// What `check` says of a connection and a role that are less safe than they could be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replicator/source/postgres/define/exposure.h"
#include "tests/support/postgres_database.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PostgresExposureTest : public ::testing::Test {
 protected:
  // A session as `role`, judged by another url.
  std::string warnings(const std::string& role, const std::string& url) {
    SourceConfig source;
    source.url = role.empty() ? database_.url() : database_.url_as(role);
    source.password = Secret(database_.password());
    PostgresSession session(source, "test");
    source.url = url;
    std::string lines;
    for (const Finding& finding : exposure_of_postgres(session, source)) {
      EXPECT_EQ(finding.severity, Finding::Severity::kWarning);
      lines += to_line(finding) + "\n";
    }
    return lines;
  }

  support::PostgresDatabase database_;
};

TEST_F(PostgresExposureTest, AConnectionThatVerifiesNobodyIsNamed) {
  const std::string role = database_.create_role("runner");
  for (const char* url :
       {"postgresql://me@db.example/shop?sslmode=require", "postgresql://me@db.example/shop?sslmode=disable",
        "postgresql://me@localhost,db.example/shop?sslmode=prefer",
        "postgresql://me@localhost/shop?hostaddr=192.0.2.1&sslmode=allow"}) {
    EXPECT_THAT(warnings(role, url), HasSubstr("add ?sslmode=verify-full")) << url;
  }
  for (const char* url :
       {"postgresql://me@db.example/shop?sslmode=verify-full",
        "postgresql://me@db.example/shop?sslmode=verify-ca",
        "postgresql://me@/shop?host=/var/run/postgresql&sslmode=prefer",
        "postgresql://me@127.0.0.1:5433/shop?sslmode=prefer", "postgresql://me@[::1]/shop?sslmode=prefer"}) {
    EXPECT_EQ(warnings(role, url), "") << url;
  }
}

TEST_F(PostgresExposureTest, ASuperuserIsNamed) {
  EXPECT_THAT(warnings("", "postgresql://postgres@localhost/shop"),
              AllOf(HasSubstr("role postgres is a superuser, which is fine for a first try"),
                    HasSubstr("`lockstep plan --role NAME` prints its grants")));
}

}  // namespace
}  // namespace lockstep
