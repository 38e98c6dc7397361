# Run at every build: writes OUT from the commit of SOURCE and from LIBRARIES, and leaves it alone when nothing has changed.
# An archive made by `git archive` has no history; cmake/commit.txt tells its commit.
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY "${SOURCE}"
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
if(code)
  file(STRINGS "${SOURCE}/cmake/commit.txt" commit LIMIT_COUNT 1)
  if(commit MATCHES "Format:")
    set(commit "")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUT}" CONTENT [[
#pragma once
inline constexpr char kBuildCommit[] = "@commit@";
inline constexpr char kBuildLibraries[] = "@LIBRARIES@";
]] @ONLY)
