// `lockstep init` as a newcomer uses it: a database of a given shape, files that init writes, and statements
// that change rows of every table.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/random_seed.h"
#include "tests/support/servers.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {

inline std::string filled(std::string statement, const std::string& hole, int number) {
  for (std::size_t at; (at = statement.find(hole)) != std::string::npos;)
    statement.replace(at, hole.size(), std::to_string(number));
  return statement;
}

class InitFixture : public testing::Test {
 protected:
  /// `schema` is a file in tests/support; in each of `statements` {n} and {m} become numbers from 1 to 12. A
  /// statement that a constraint refuses changes nothing.
  InitFixture(const std::string& schema, std::vector<std::string> statements)
      : index_("init"), statements_(std::move(statements)) {
    database_.run(LOCKSTEP_SOURCE_DIR "/tests/support/" + schema);
  }

  std::filesystem::path file(const std::string& extension) const {
    return folder_.path() / "made" / (index_.alias() + extension);
  }
  std::string text(const std::string& extension) const {
    std::ifstream in(file(extension));
    std::stringstream content;
    content << in.rdbuf();
    return content.str();
  }

  /// Of the mapping that init wrote.
  nlohmann::json fields() const {
    return nlohmann::json::parse(text(".json")).at("mappings").at("properties");
  }

  Completed init(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{"init",         "--source",        database_.url(),    "--alias",
                                 index_.alias(), "--elasticsearch", elasticsearch_url()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.push_back((folder_.path() / "made").string());
    return run_program(lockstep_program(), all);
  }

  Completed lockstep(const std::string& verb, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {verb, "-c", file(".toml").string()});
    return run_program(lockstep_program(), arguments);
  }

  void must(const std::string& verb, const std::vector<std::string>& arguments = {}) const {
    const Completed completed = lockstep(verb, arguments);
    ASSERT_EQ(completed.exit_code, 0) << verb << "\n" << completed.out << completed.err << text(".toml");
  }

  /// Lets init write its files for a view, which it may make itself, and knows all about.
  void draft(const std::string& view, const std::vector<std::string>& arguments) {
    view_ = view;
    const Completed made = init(arguments);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, testing::Not(testing::HasSubstr("not known")));
  }

  // Fills the index, changes rows of every table, follows, compares.
  void expect_that_no_change_is_missed(int rounds = 2) {
    const Completed up = lockstep("up", {"--until-caught-up"});
    ASSERT_EQ(up.exit_code, 0) << up.out << up.err << text(".toml");
    EXPECT_THAT(up.out, testing::Not(testing::HasSubstr(".toml:"))) << "check warns of the file\n"
                                                                    << text(".toml");
    std::mt19937 random(random_seed());
    std::uniform_int_distribution<int> number(1, 12);
    std::string all;
    for (int round = 0; round < rounds; ++round) {
      for (const std::string& statement : statements_) {
        const std::string sql = filled(filled(statement, "{n}", number(random)), "{m}", number(random));
        all += "begin " + sql + "; exception when integrity_constraint_violation then null; end;\n";
      }
      database_.execute("do $do$ begin\n" + all + "end $do$");
      all.clear();
    }
    EXPECT_GT(database_.number("select count(*) from lockstep.outbox"), 0) << "no change was captured";
    must("run", {"--until-caught-up"});
    must("verify");
    EXPECT_EQ(index_.count(), database_.number("select count(*) from " + view_));
    EXPECT_EQ(database_.number("select count(*) from lockstep.dead_letter"), 0);
  }

  PostgresDatabase database_;
  TemporaryFolder folder_;
  ElasticsearchIndex index_;
  std::string view_;  ///< of the documents

 private:
  const std::vector<std::string> statements_;
};

}  // namespace lockstep::support
