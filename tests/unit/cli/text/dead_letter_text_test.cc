#include "replicator/cli/text/dead_letter_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

StoredDeadLetter letter() {
  StoredDeadLetter stored;
  stored.letter = {IndexId{3},       DocumentId{"a \"b\"\t"}, "eu", DocumentVersion(Epoch{1}, 2), 400,
                   "some_exception", "two\nlines\tand a tab"};
  stored.first_at = "2026-01-30T00:00:00.000000Z";
  stored.last_at = "2026-01-31T12:00:00.000000Z";
  stored.tries = 4;
  return stored;
}

TEST(DeadLetterTextTest, ALineHasItsPartsBetweenTabsWhateverIsInThem) {
  EXPECT_EQ(dead_letter_line("posts", letter()),
            "2026-01-31T12:00:00.000000Z\tposts\t\"a \\\"b\\\"\\t\"\t\"eu\"\t400\tsome_exception\t"
            "two lines and a tab\n");
  StoredDeadLetter unrouted = letter();
  unrouted.letter.routing.clear();
  EXPECT_NE(dead_letter_line("posts", unrouted).find("\\t\"\t\t400"), std::string::npos);
}

TEST(DeadLetterTextTest, JsonIsOneLineAndKeepsTheDocumentsBytes) {
  const DeadLetterDocument document{"{\"n\":\n1.10}", ""};
  const std::string text = dead_letter_json("posts", letter(), &document);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_NE(text.find(R"("document":{"n": 1.10}})"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("id"), "a \"b\"\t");
  EXPECT_EQ(json.at("reason"), "two\nlines\tand a tab");
  EXPECT_EQ(json.at("tries"), 4);
  EXPECT_FALSE(json.contains("problem"));
  EXPECT_FALSE(nlohmann::json::parse(dead_letter_json("posts", letter(), nullptr)).contains("document"));
}

TEST(DeadLetterTextTest, ADocumentThatIsGoneOrCannotBeRenderedIsSaidToBe) {
  const DeadLetterDocument gone;
  EXPECT_NE(dead_letter_text("posts", letter(), gone).find("document  none"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(dead_letter_json("posts", letter(), &gone)).at("document").is_null());
  const DeadLetterDocument broken{std::nullopt, "division by zero"};
  EXPECT_NE(dead_letter_text("posts", letter(), broken).find("cannot be rendered: division by zero"),
            std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(dead_letter_json("posts", letter(), &broken)).at("problem"),
            "division by zero");
}

}  // namespace
}  // namespace lockstep
