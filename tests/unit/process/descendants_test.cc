#include "replicator/process/descendants.h"

#include <fcntl.h>
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

// It wrote on for seconds after lockstep had returned: each look at /proc missed its newest process.
TEST(Descendants, AreEndedAlsoWhenOneForksAndEndsAgainAndAgain) {
  adopt_orphans();
  std::array<int, 2> beats{};
  ASSERT_EQ(::pipe(beats.data()), 0);
  const pid_t first = ::fork();
  if (first == 0) {
    ::signal(SIGTERM, SIG_IGN);
    while (true) {
      if (::fork() != 0) ::_exit(0);
      if (::write(beats[1], "!", 1) != 1) ::_exit(1);
      ::usleep(1'000);
    }
  }
  ::close(beats[1]);
  std::array<char, 20> seen{};
  for (std::size_t count = 0; count < seen.size();) {
    const ssize_t length = ::read(beats[0], seen.data(), seen.size() - count);
    ASSERT_GT(length, 0);
    count += static_cast<std::size_t>(length);
  }
  EXPECT_TRUE(end_descendants(SystemClock().now() + std::chrono::milliseconds(500)));
  ASSERT_EQ(::fcntl(beats[0], F_SETFL, O_NONBLOCK), 0);
  ssize_t length = 0;
  do length = ::read(beats[0], seen.data(), seen.size());
  while (length > 0);
  EXPECT_EQ(length, 0) << "somebody still has the other end";
  ::close(beats[0]);
}

}  // namespace
}  // namespace lockstep
