#include "replicator/json_string.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonString, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(as_json("a\"b\\c\nd\re\tf"), R"("a\"b\\c\nd\re\tf")");
  EXPECT_EQ(as_json(std::string("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\x7f\"");
}

TEST(JsonString, PassesEveryOtherCharacterThrough) {
  const std::string text = "naïve / 東京 \u2028\u2029 😀 %";
  EXPECT_EQ(as_json(text), '"' + text + '"');
}

TEST(JsonString, ReadsBackAsTheSameTextWhateverTheBytes) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  EXPECT_EQ(nlohmann::json::parse(as_json(all)).get<std::string>(), all);
  EXPECT_EQ(as_json(""), "\"\"");
}

}  // namespace
}  // namespace lockstep
