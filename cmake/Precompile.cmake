# Headers that nearly every file includes, read once instead of a hundred times: parsing them is a third of the time of a
# compilation. Sources still include what they use: lockstep_headers_check compiles without this (scripts/test --preset bare).
#
#   lockstep_precompile(<target>)        the standard library, nlohmann_json, spdlog, libpqxx
#   lockstep_precompile_tests(<target>)  these and GoogleTest
option(LOCKSTEP_PRECOMPILE "Read the usual headers once" ON)

function(lockstep_precompiled name)
  set(source "${PROJECT_BINARY_DIR}/${name}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} STATIC "${source}")
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARGN})
endfunction()

function(lockstep_precompile target)
  if(LOCKSTEP_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM lockstep_headers)
  endif()
endfunction()

function(lockstep_precompile_tests target)
  if(LOCKSTEP_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM lockstep_test_headers)
  endif()
endfunction()

if(LOCKSTEP_PRECOMPILE)
  set(standard <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <filesystem> <fstream>
      <functional> <iostream> <map> <memory> <mutex> <optional> <set> <span> <sstream> <stdexcept> <stop_token> <string>
      <string_view> <thread> <unordered_map> <unordered_set> <utility> <variant> <vector>)
  set(program <nlohmann/json.hpp> <pqxx/pqxx> <spdlog/spdlog.h>)
  lockstep_precompiled(lockstep_headers spdlog::spdlog nlohmann_json::nlohmann_json PkgConfig::pqxx Threads::Threads)
  target_precompile_headers(lockstep_headers PRIVATE ${standard} ${program})
  if(LOCKSTEP_TESTS)
    lockstep_precompiled(lockstep_test_headers spdlog::spdlog nlohmann_json::nlohmann_json PkgConfig::pqxx
                         GTest::gtest GTest::gmock Threads::Threads)
    # As the tests are compiled: GCC takes no header that was read with another optimisation.
    target_compile_options(lockstep_test_headers PRIVATE -O0)
    target_precompile_headers(lockstep_test_headers PRIVATE ${standard} ${program} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endif()
