#include "replicator/process/descendants.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace lockstep {
namespace {

// Who should have killed them was stopped meanwhile, or the machine was.
TEST(Descendants, AreKilledAlsoWhenTheTimeForItIsLongOver) {
  adopt_orphans();
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_IGN);
    if (::write(ready[1], "!", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_TRUE(end_descendants(SystemClock().now() - std::chrono::minutes(1)));
  EXPECT_EQ(::kill(child, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace lockstep
