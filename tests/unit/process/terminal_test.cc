#include "replicator/process/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace lockstep {
namespace {

// `status --watch` sent the sequences of a full screen to whatever was there.
TEST(TerminalTest, OnlyATerminalThatCanBeRedrawnIs) {
  int person = -1;
  int program = -1;
  ASSERT_EQ(::openpty(&person, &program, nullptr, nullptr, nullptr), 0);
  std::fflush(stdout);
  const int before = ::dup(STDOUT_FILENO);
  const auto redrawn_as = [](const char* term) {
    ::setenv("TERM", term, 1);
    return redraws();
  };
  ::dup2(program, STDOUT_FILENO);
  const bool as_xterm = redrawn_as("xterm");
  const bool as_dumb = redrawn_as("dumb");
  const bool as_nothing = redrawn_as("");
  ::unsetenv("TERM");
  const bool unknown = redraws();
  ::dup2(before, STDOUT_FILENO);
  for (const int descriptor : {before, person, program}) ::close(descriptor);
  EXPECT_TRUE(as_xterm);
  EXPECT_FALSE(as_dumb);
  EXPECT_FALSE(as_nothing);
  EXPECT_FALSE(unknown);
}

}  // namespace
}  // namespace lockstep
