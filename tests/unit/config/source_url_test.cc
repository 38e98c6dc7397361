#include "replicator/config/source_url.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(SourceUrlTest, ThePasswordIsTakenOut) {
  const auto separated = separate_password("postgresql://app:p%40ss%3a@db:5432/shop?sslmode=require");
  ASSERT_TRUE(separated);
  EXPECT_EQ(separated->url, "postgresql://app@db:5432/shop?sslmode=require");
  EXPECT_EQ(separated->password.value(), "p@ss:");
}

TEST(SourceUrlTest, WithoutAPasswordItStaysAsItIs) {
  for (const char* url : {"postgresql:///shop", "postgresql://app@/shop", "postgresql://db:5432/shop",
                          "postgresql://[::1]:5432/shop", "postgresql:///shop?host=/tmp:x@y"}) {
    const auto separated = separate_password(url);
    ASSERT_TRUE(separated);
    EXPECT_EQ(separated->url, url);
    EXPECT_TRUE(separated->password.empty());
  }
}

TEST(SourceUrlTest, ABrokenEscapeIsNoPassword) {
  for (const char* url : {"postgresql://app:50%@db", "postgresql://app:%g0@db", "postgresql://app:%4@db"}) {
    EXPECT_FALSE(separate_password(url)) << url;
  }
}

TEST(SourceUrlTest, TheUserIsDecoded) {
  EXPECT_EQ(user_of_url("postgresql://lock%20step:x@db/shop"), "lock step");
  EXPECT_EQ(user_of_url("postgresql://lockstep@/shop"), "lockstep");
  EXPECT_EQ(user_of_url("postgresql:///shop"), "");
  EXPECT_EQ(user_of_url("sqlite:/a@b"), "");
}

TEST(SourceUrlTest, PasswordParametersAreSeen) {
  EXPECT_TRUE(has_password_parameter("postgresql:///shop?password=x"));
  EXPECT_TRUE(has_password_parameter("postgresql:///shop?user=a&password=x"));
  EXPECT_FALSE(has_password_parameter("postgresql:///shop?passfile=password=x"));
  EXPECT_TRUE(has_password_parameter("postgresql:///shop?user=a&p%61ssword=x"));
}

TEST(SourceUrlTest, NoSecretIsShown) {
  EXPECT_EQ(
      url_without_secrets("postgresql://app:x%40y@db/shop?sslmode=require&sslpassword=x&application_name=a"),
      "postgresql://app:(secret)@db/shop?sslmode=require&sslpassword=(secret)&application_name=a");
  EXPECT_EQ(url_without_secrets("postgresql:///shop?p%61ssword=x&ssl%70assword=y"),
            "postgresql:///shop?p%61ssword=(secret)&ssl%70assword=(secret)");
  EXPECT_EQ(url_without_secrets("postgresql:///shop?scram_client_key=x&oauth_client_secret=y"),
            "postgresql:///shop?scram_client_key=(secret)&oauth_client_secret=(secret)");
  EXPECT_EQ(url_without_secrets("postgresql:///shop?password"), "postgresql:///shop?password(secret)");
  for (const char* url : {"postgresql:///shop", "postgresql://app@db/shop?passfile=/x", "sqlite:/x"}) {
    EXPECT_EQ(url_without_secrets(url), url);
  }
}

}  // namespace
}  // namespace lockstep
