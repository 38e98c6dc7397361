// The warnings of `status`, and the table "Every warning of `status`" of docs/operations.md.
#include "replicator/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

namespace lockstep {
namespace {

/// What the table's first column has between backticks.
std::vector<std::string> documented() {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/docs/operations.md");
  EXPECT_TRUE(file) << "docs/operations.md is missing";
  std::vector<std::string> patterns;
  bool is_table = false;
  const std::regex quoted("`` (.*?) ``|`([^`]+)`");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) is_table = line == "### Every warning of `status`";
    if (!is_table || !line.starts_with("| `")) continue;
    const std::string first = line.substr(0, line.find("| ["));
    for (std::sregex_iterator each(first.begin(), first.end(), quoted), end; each != end; ++each)
      patterns.push_back((*each)[1].matched ? (*each)[1] : (*each)[2]);
  }
  return patterns;
}

/// Whether a text has the parts of a pattern in their order, with "…" for anything.
bool says(std::string_view text, std::string_view pattern) {
  constexpr std::string_view kAnything = "…";
  std::size_t from = 0;
  while (true) {
    const std::size_t end = pattern.find(kAnything);
    const std::string_view part = pattern.substr(0, end);
    const std::size_t found = text.find(part, from);
    if (found == std::string_view::npos) return false;
    if (end == std::string_view::npos) return true;
    from = found + part.size();
    pattern.remove_prefix(end + kAnything.size());
  }
}

TEST(Warnings, EachIsInTheRunbookAndItHasNoOther) {
  const std::vector<std::string> patterns = documented();
  ASSERT_GT(patterns.size(), 20U);
  for (const WarningText& each : warning_texts()) {
    EXPECT_TRUE(std::ranges::any_of(patterns, [&](const auto& pattern) { return says(each.text, pattern); }))
        << "docs/operations.md lacks \"" << each.text << "\"";
  }
  for (const std::string& pattern : patterns) {
    EXPECT_TRUE(
        std::ranges::any_of(warning_texts(), [&](const auto& each) { return says(each.text, pattern); }))
        << "docs/operations.md has \"" << pattern << "\", which is no warning";
  }
}

TEST(Warnings, ValuesComeInTheirOrderAndStayWhatTheyAre) {
  EXPECT_EQ(warning("column_gone", {"a…b", "posts"}), "column a…b of table posts is gone");
  EXPECT_EQ(stored_warning("column_gone", R"(["a", "posts"])"), "column a of table posts is gone");
}

TEST(Warnings, AWrongNameOrNumberOfValuesIsAMistakeOfTheProgram) {
  EXPECT_THROW(warning("nonsense", {}), std::logic_error);
  EXPECT_THROW(warning("table_gone", {}), std::logic_error);
  EXPECT_THROW(warning("table_gone", {"a", "b"}), std::logic_error);
}

}  // namespace
}  // namespace lockstep
