# Headers that nearly every file includes, read once instead of a hundred times, and the templates behind them, compiled once
# (instantiated_once.h). Sources include what they use all the same: the preset "bare" compiles without this.
#
#   lockstep_precompile(<target>)        the standard library, nlohmann_json, spdlog, libpqxx
#   lockstep_precompile_tests(<target>)  these and GoogleTest, without optimisation: see tests/CMakeLists.txt
option(LOCKSTEP_PRECOMPILE "Read the usual headers once" ON)

set(usual_headers <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <filesystem> <fstream> <functional>
    <iostream> <map> <memory> <mutex> <optional> <set> <span> <sstream> <stdexcept> <stop_token> <string> <string_view> <thread>
    <unordered_map> <unordered_set> <utility> <variant> <vector> <nlohmann/json.hpp> <pqxx/pqxx> <spdlog/spdlog.h>
    "${PROJECT_SOURCE_DIR}/cmake/instantiated_once.h")

# lockstep_headers is linked by every target that reads its headers.
if(LOCKSTEP_PRECOMPILE)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/lockstep_headers.cc" CONTENT "")  # CMake wants a source that reads them
  add_library(lockstep_headers STATIC "${PROJECT_BINARY_DIR}/lockstep_headers.cc"
              "${PROJECT_SOURCE_DIR}/cmake/instantiated_once.cc")
  target_include_directories(lockstep_headers PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(lockstep_headers PUBLIC spdlog::spdlog nlohmann_json::nlohmann_json PRIVATE PkgConfig::pqxx)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/cmake/instantiated_once.cc" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_compile_options(lockstep_headers PRIVATE ${LOCKSTEP_FUZZED_OPTIONS})
  target_precompile_headers(lockstep_headers PRIVATE ${usual_headers})
  if(LOCKSTEP_TESTS)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/lockstep_test_headers.cc" CONTENT "")
    add_library(lockstep_test_headers STATIC "${PROJECT_BINARY_DIR}/lockstep_test_headers.cc"
                "${PROJECT_SOURCE_DIR}/cmake/instantiated_once_for_tests.cc")
    set_source_files_properties("${PROJECT_SOURCE_DIR}/cmake/instantiated_once_for_tests.cc"
                                PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    target_link_libraries(lockstep_test_headers PUBLIC lockstep_headers PRIVATE PkgConfig::pqxx GTest::gmock)
    target_compile_options(lockstep_test_headers PRIVATE ${LOCKSTEP_TEST_OPTIONS})
    target_precompile_headers(lockstep_test_headers PRIVATE ${usual_headers} <gmock/gmock.h> <gtest/gtest.h>
                              "${PROJECT_SOURCE_DIR}/cmake/instantiated_once_for_tests.h")
  endif()
endif()

function(lockstep_precompile target)
  if(LOCKSTEP_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM lockstep_headers)
    target_link_libraries(${target} PUBLIC lockstep_headers)
  endif()
endfunction()

function(lockstep_precompile_tests target)
  if(LOCKSTEP_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM lockstep_test_headers)
    target_link_libraries(${target} PRIVATE lockstep_test_headers lockstep_headers)
  endif()
endfunction()
