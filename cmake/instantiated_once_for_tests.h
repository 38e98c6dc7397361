// What instantiated_once.h is for the program, for its tests: how GoogleTest compares and prints JSON, which
// takes up to a third of the compile time of a file that does so.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cmake/instantiated_once.h"

#ifdef LOCKSTEP_INSTANTIATE_FOR_TESTS
#define LOCKSTEP_TEST_TEMPLATE template
#else
#define LOCKSTEP_TEST_TEMPLATE extern template
#endif
#define LOCKSTEP_COMPARISON(type)                                           \
  LOCKSTEP_TEST_TEMPLATE AssertionResult CmpHelperEQ<nlohmann::json, type>( \
      const char*, const char*, const nlohmann::json&, const type&)

namespace testing {
LOCKSTEP_TEST_TEMPLATE std::string PrintToString<nlohmann::json>(const nlohmann::json&);
namespace internal {
LOCKSTEP_COMPARISON(nlohmann::json);
LOCKSTEP_COMPARISON(std::string);
LOCKSTEP_COMPARISON(int);
LOCKSTEP_COMPARISON(bool);
}  // namespace internal
}  // namespace testing

#undef LOCKSTEP_COMPARISON
#undef LOCKSTEP_TEST_TEMPLATE
