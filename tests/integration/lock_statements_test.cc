// docs/locks.md and docs/lock-protocol.md, with PostgreSQL: their statements, run one after the other, give
// the results that they show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "replicator/locks/backends/postgres/locks.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"

namespace lockstep::support {
namespace {

std::string read_page(const std::string& name) {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/docs/" + name);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

/// The content of the next fenced block of the language; moves `at` behind it. Empty at the end of the page.
std::string next_block(const std::string& page, const std::string& language, std::size_t& at) {
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = page.find(fence, at);
  if (begin == std::string::npos) return {};
  const std::size_t end = page.find("```\n", begin + fence.size());
  at = end;
  return page.substr(begin + fence.size(), end - begin - fence.size());
}

/// What they print.
std::string run_statements(const PostgresDatabase& database, const std::string& statements) {
  const Completed run = run_program("psql", {"-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database.url(), "-c",
                                             "set timezone = 'UTC'", "-c", statements});
  EXPECT_EQ(run.exit_code, 0) << statements << run.err;
  return run.out;
}

/// Replaces times and tokens.
std::string without_numbers(const std::string& text) {
  const std::regex time(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00)");
  return std::regex_replace(std::regex_replace(text, time, "a time"), std::regex(R"(\b\d{13}\b)"), "a token");
}

TEST(LockStatements, GiveWhatTheDocumentationShows) {
  PostgresDatabase database;
  SourceConfig source;
  source.url = database.url();
  PostgresLocks locks(source, std::chrono::seconds(10), std::chrono::seconds(10));
  locks.prepare();

  const std::string rights = read_page("locks.md");
  std::size_t at = rights.find("## In PostgreSQL");
  const std::string grants = next_block(rights, "sql", at);
  EXPECT_THAT(grants, testing::StartsWith("grant usage on schema lockstep_locks"));
  EXPECT_EQ(run_statements(database, grants), "");

  const std::string page = read_page("lock-protocol.md");
  int blocks = 0;
  at = page.find("## In PostgreSQL");
  for (std::string statements; !(statements = next_block(page, "sql", at)).empty(); ++blocks) {
    EXPECT_EQ(without_numbers(run_statements(database, statements)),
              without_numbers(next_block(page, "text", at)))
        << statements;
  }
  EXPECT_EQ(blocks, 4);
}

}  // namespace
}  // namespace lockstep::support
