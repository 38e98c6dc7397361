#include "replicator/log/log_command.h"

#include <gmock/gmock.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "replicator/log/log.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

nlohmann::json logged() {
  CaptureStderr();
  start_logging(LogFormat::kJson, "info");
  log_command("dead-letters discard", "shop");
  return nlohmann::json::parse(GetCapturedStderr());
}

TEST(LogCommandTest, ItSaysWhoRanWhatWhere) {
  ::unsetenv("SUDO_USER");
  const passwd* const user = ::getpwuid(::getuid());
  const std::string name = user == nullptr ? "uid " + std::to_string(::getuid()) : user->pw_name;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const nlohmann::json line = logged();
  EXPECT_EQ(line["message"], "dead-letters discard of pipeline shop by " + name + " on " + host);
  EXPECT_EQ(line["command"], "dead-letters discard");
  EXPECT_EQ(line["user"], name);
}

TEST(LogCommandTest, WhoeverCalledSudoIsNamedAndForgesNoLine) {
  ::setenv("SUDO_USER", "alice\nroot", 1);
  const std::string user = logged()["user"];
  ::unsetenv("SUDO_USER");
  if (::getuid() == 0) {
    EXPECT_THAT(user, StartsWith("alice root (as "));
  } else {
    EXPECT_THAT(user, Not(HasSubstr("alice"))) << "anybody may set the variable";
  }
}

}  // namespace
}  // namespace lockstep
