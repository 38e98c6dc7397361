// docs/lock-protocol.md: its requests, run one after the other, give the answers that it shows.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "replicator/locks/backends/elasticsearch/lock_scripts.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/program.h"
#include "tests/support/servers.h"

namespace lockstep::support {
namespace {

using nlohmann::json;

struct Block {
  std::string requests;  ///< shell
  std::string answers;   ///< JSON values one after the other
};

std::string read_page() {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/docs/lock-protocol.md");
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

/// Each ```sh block with the ```json block behind it.
std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  const auto fenced = [&](const std::string& language,
                          std::size_t from) -> std::pair<std::string, std::size_t> {
    const std::string fence = "```" + language + "\n";
    const std::size_t begin = page.find(fence, from);
    if (begin == std::string::npos) return {"", begin};
    const std::size_t end = page.find("\n```\n", begin);
    return {page.substr(begin + fence.size(), end - begin - fence.size() + 1), end};
  };
  for (std::size_t at = 0;;) {
    const auto [requests, behind_requests] = fenced("sh", at);
    if (behind_requests == std::string::npos) return blocks;
    const auto [answers, behind_answers] = fenced("json", behind_requests);
    blocks.push_back({requests, answers});
    at = behind_answers;
  }
}

/// A text of JSON values one after the other.
std::vector<json> values_of(const std::string& text) {
  std::vector<json> values;
  std::size_t begin = text.find('{');
  while (begin != std::string::npos) {
    int depth = 0;
    std::size_t end = begin;
    bool quoted = false;
    for (; end < text.size(); ++end) {
      if (text[end] == '"' && text[end - 1] != '\\') quoted = !quoted;
      if (quoted) continue;
      if (text[end] == '{') ++depth;
      if (text[end] == '}' && --depth == 0) break;
    }
    values.push_back(json::parse(text.substr(begin, end - begin + 1)));
    begin = text.find('{', end);
  }
  return values;
}

/// Replaces what depends on the time and on the requests before.
json without_numbers(json value) {
  if (value.is_structured()) {
    for (auto& [key, member] : value.items()) {
      const bool varies =
          key == "until" || key == "now" || key == "_seq_no" || key == "_primary_term" || key == "last";
      member = varies && member.is_number() ? json("a number") : without_numbers(member);
    }
  }
  return value;
}

class LockRequests : public testing::Test {
 protected:
  LockRequests() { remove(); }
  ~LockRequests() override { remove(); }

  void remove() {
    for (const char* index : {"lockstep-locks", "lockstep-journal", "lockstep-example"}) {
      server_.request("DELETE", std::string("/") + index);
    }
    server_.request("DELETE", "/_index_template/lockstep-locks");
  }

  ElasticsearchServer server_;
};

TEST_F(LockRequests, GiveTheAnswersThatTheDocumentationShows) {
  const std::vector<Block> blocks = blocks_of(read_page());
  ASSERT_EQ(blocks.size(), 11u);
  Program::Environment environment = {{"ES", elasticsearch_url()}};
  for (const Block& block : blocks) {
    const Completed run =
        run_program("bash", {"-euc", "cd '" LOCKSTEP_SOURCE_DIR "'\n" + block.requests}, environment);
    ASSERT_EQ(run.exit_code, 0) << block.requests << run.err;
    const std::vector<json> got = values_of(run.out);
    const std::vector<json> expected = values_of(block.answers);
    ASSERT_EQ(got.size(), expected.size()) << block.requests << run.out;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(without_numbers(got[i]), without_numbers(expected[i])) << block.requests << got[i];
      if (got[i].contains("get") && got[i]["get"]["_source"].contains("last"))
        environment["TOKEN"] = got[i]["get"]["_source"]["last"].dump();
      // Of the answers with sequence numbers, only those of the journal are about an operation's entry.
      if (!got[i].contains("_seq_no") || got[i].contains("_source")) continue;
      environment["SEQ"] = std::to_string(got[i].at("_seq_no").get<int>());
      environment["TERM"] = std::to_string(got[i].at("_primary_term").get<int>());
    }
  }
  for (const LockScript& script : lock_scripts()) {
    EXPECT_EQ(server_.expect("GET", "/_scripts/" + script.id).at("script").at("source"), script.source);
  }
}

}  // namespace
}  // namespace lockstep::support
