// With TLS, users and roles: the privileges that docs/configuration.md lists suffice, `check` names each that
// is missing, and one that is taken away while the service runs stops nothing for good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "replicator/elasticsearch/admin/client.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/postgres_database.h"
#include "tests/support/private_engine.h"
#include "tests/support/program.h"
#include "tests/support/shipped_files.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kAlias = "secured";

std::string engine_name() {
  // The environment is read once, before any thread changes it.
  const char* name = std::getenv("LOCKSTEP_TEST_ENGINE");  // NOLINT(concurrency-mt-unsafe)
  return name == nullptr ? "" : name;
}

std::string line_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) throw std::runtime_error("cannot read " + file.string());
  return line;
}

struct Privileges {
  std::vector<std::string> cluster;
  std::vector<std::string> indices;

  std::vector<std::string> all() const {
    std::vector<std::string> both = cluster;
    both.insert(both.end(), indices.begin(), indices.end());
    return both;
  }
  Privileges without(const std::string& privilege) const {
    Privileges rest = *this;
    std::erase(rest.cluster, privilege);
    std::erase(rest.indices, privilege);
    return rest;
  }
};

std::vector<std::string> quoted_words(const std::string& cell) {
  static const std::regex kWord("`([^`]+)`");
  std::vector<std::string> words;
  for (auto word = std::sregex_iterator(cell.begin(), cell.end(), kWord); word != std::sregex_iterator();
       ++word)
    words.push_back((*word)[1]);
  return words;
}

/// The row of docs/configuration.md's table.
Privileges documented(const std::string& family) {
  std::istringstream docs(shipped_file("docs/configuration.md"));
  for (std::string line; std::getline(docs, line);) {
    if (!line.starts_with("| " + family + " | `")) continue;
    const std::size_t begin = line.find('|', 1) + 1;
    const std::size_t end = line.find('|', begin);
    return {quoted_words(line.substr(begin, end - begin)), quoted_words(line.substr(end))};
  }
  throw std::runtime_error("docs/configuration.md has no privileges for " + family);
}

class Secured : public testing::Test {
 protected:
  void SetUp() override {
    if (engine_name() != "elasticsearch-8.19" && engine_name() != "elasticsearch-9.5" &&
        engine_name() != "opensearch-2.19")
      GTEST_SKIP() << "the test build of " << engine_name() << " has no security";
    is_opensearch_ = engine_name().starts_with("opensearch");
    data_ = folder_.path() / "engine";
    engine_ = std::make_unique<PrivateEngine>(
        engine_name(), data_,
        std::vector<std::string>{"--security", "--indices", kAlias, "--heap", "512m", "--timeout", "300"});
    database_.execute(
        "create schema search; create table things (id int primary key, name text);"
        "insert into things select i, 'thing ' || i from generate_series(1, 100) i;"
        "create view search.things as select id as _id, name from things");
    folder_.write("mapping.json",
                  R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {}})");
  }

  void TearDown() override {
    if (HasFailure() && service_ != nullptr) std::cout << service_->err();
  }

  std::string configuration(const std::string& password_file, const std::string& more) {
    std::string toml = "pipeline = 'secured'\n[source]\nurl = '" + database_.url() + "'\n";
    if (!database_.password().empty()) toml += "password = '" + database_.password() + "'\n";
    toml += "[elasticsearch]\nurls = ['" + engine_->url() + "']\nusername = 'replicator'\npassword_file = '" +
            password_file + "'\n" + more + "[[index]]\nalias = '" + kAlias +
            "'\nmapping = 'mapping.json'\nview = 'search.things'\n[[index.track]]\ntable = 'public.things'\n";
    return folder_.write("lockstep.toml", toml).string();
  }
  std::string configuration() {
    return configuration((data_ / "security/replicator.password").string(), authority());
  }
  std::string authority() const { return "ca_file = '" + (data_ / "security/ca.crt").string() + "'\n"; }

  static Completed lockstep(const std::string& verb, const std::string& configuration,
                            const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> all{verb, "-c", configuration};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_program(lockstep_program(), all, {}, kPatience);
  }
  /// What it prints; a failure of the test unless it succeeds.
  std::string must(const std::string& verb, const std::vector<std::string>& arguments = {}) {
    const Completed completed = lockstep(verb, configuration(), arguments);
    EXPECT_EQ(completed.exit_code, 0) << verb << ": " << completed.out << completed.err;
    return completed.out + completed.err;
  }

  void grant(const Privileges& privileges) {
    const json names = {kAlias, std::string(kAlias) + "-*"};
    if (is_opensearch_) {
      const json role = {
          {"cluster_permissions", privileges.cluster},
          {"index_permissions", {{{"index_patterns", names}, {"allowed_actions", privileges.indices}}}}};
      admin().send("granting", "PUT", "/_plugins/_security/api/roles/replicator", role.dump());
      return;
    }
    // JSON is YAML. In place, since the file is the server's user's.
    const json roles = {{"replicator",
                         {{"cluster", privileges.cluster},
                          {"indices", {{{"names", names}, {"privileges", privileges.indices}}}}}}};
    std::ofstream(data_ / "config/roles.yml") << roles.dump() << '\n';
  }

  /// Of the user `replicator`, in the server; the file that lockstep reads stays as it is.
  void set_password(const std::string& password) {
    if (is_opensearch_) {
      admin().send("rotating", "PUT", "/_plugins/_security/api/internalusers/replicator",
                   json{{"password", password}}.dump());
      return;
    }
    const Completed hash = run_program(
        "python3", {"-W", "ignore", "-c",
                    "import crypt, sys; print(crypt.crypt(sys.argv[1], crypt.mksalt(crypt.METHOD_BLOWFISH, "
                    "rounds=1024)))",
                    password});
    const std::filesystem::path file = data_ / "config/users";
    std::ifstream before(file);
    std::string users;
    for (std::string line; std::getline(before, line);) {
      users +=
          (line.starts_with("replicator:") ? "replicator:" + hash.out.substr(0, hash.out.find('\n')) : line) +
          "\n";
    }
    std::ofstream(file) << users;
  }

  ElasticsearchClient& admin() {
    if (!admin_) {
      ElasticsearchConfig config;
      config.urls = {engine_->url()};
      config.username = "admin";
      config.password = Secret(line_of(data_ / "security/admin.password"));
      config.ca_file = data_ / "security/ca.crt";
      admin_.emplace(make_transport_factory(config)());
    }
    return *admin_;
  }

  /// Whether `check` soon says so; a role's change takes up to a second.
  testing::AssertionResult check_says(int exit_code, const std::string& words) {
    Completed last;
    const bool said = wait_until(
        [&] {
          last = lockstep("check", configuration());
          return last.exit_code == exit_code && (last.out + last.err).find(words) != std::string::npos;
        },
        std::chrono::seconds(20), std::chrono::milliseconds(100));
    if (said) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "`check` ends with " << last.exit_code << ": " << last.out << last.err;
  }

  bool is_equal() { return lockstep("verify", configuration()).exit_code == 0; }

  TemporaryFolder folder_;
  PostgresDatabase database_;
  std::filesystem::path data_;
  std::unique_ptr<PrivateEngine> engine_;
  bool is_opensearch_ = false;
  std::optional<ElasticsearchClient> admin_;
  std::unique_ptr<Program> service_;
};

// One test, since a secured engine takes most of a minute to start.
TEST_F(Secured, TheDocumentedPrivilegesSufficeAndEachOfThemIsNeeded) {
  const Privileges privileges = documented(is_opensearch_ ? "OpenSearch" : "Elasticsearch");
  ASSERT_GT(privileges.all().size(), 8u);
  grant(privileges);
  ASSERT_TRUE(check_says(0, "no errors"));
  must("apply");
  must("run", {"--until-caught-up"});
  EXPECT_TRUE(is_equal());

  for (const std::string& privilege : privileges.all()) {
    grant(privileges.without(privilege));
    EXPECT_TRUE(check_says(1, privilege)) << privilege << " is missing";
  }
  grant(privileges);
  EXPECT_TRUE(check_says(0, "no errors"));

  // Taken away while the service runs.
  service_ =
      std::make_unique<Program>(lockstep_program(), std::vector<std::string>{"run", "-c", configuration()});
  database_.execute("update things set name = 'seen' where id = 1");
  ASSERT_TRUE(wait_until([&] { return is_equal(); }, kPatience));
  grant(privileges.without(is_opensearch_ ? "indices:data/write/bulk" : "write"));
  int change = 0;
  EXPECT_TRUE(wait_until(
      [&] {
        database_.execute("update things set name = 'change " + std::to_string(++change) + "' where id = 2");
        return service_->err().find("indices:data/write/bulk") != std::string::npos;
      },
      kPatience, std::chrono::milliseconds(300)))
      << "the log does not name the privilege";
  grant(privileges);
  EXPECT_TRUE(wait_until([&] { return is_equal(); }, kPatience));
  EXPECT_EQ(database_.number("select count(*) from lockstep.dead_letter"), 0);

  // The password changes in the server, then in its file.
  const std::string password = "Rotated-" + line_of(data_ / "security/replicator.password");
  set_password(password);
  EXPECT_TRUE(wait_until(
      [&] {
        database_.execute("update things set name = 'refused " + std::to_string(++change) + "' where id = 3");
        return service_->err().find("401") != std::string::npos;
      },
      kPatience, std::chrono::milliseconds(300)))
      << "the log does not say that the password is refused";
  std::ofstream(data_ / "security/replicator.password") << password << '\n';
  EXPECT_TRUE(wait_until([&] { return is_equal(); }, kPatience));
  EXPECT_TRUE(service_->running());

  service_->signal(SIGTERM);
  EXPECT_EQ(service_->wait(kPatience), 0);

  const std::string wrong = folder_.write("wrong", "wrong\n").string();
  const Completed refused = lockstep("check", configuration(wrong, authority()));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out + refused.err, HasSubstr("401"));
  const Completed unknown =
      lockstep("check", configuration((data_ / "security/replicator.password").string(), ""));
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.out + unknown.err, HasSubstr("ca_file"));

  must("remove", {"--yes", "--indices"});
  EXPECT_TRUE(admin().indices_of(kAlias).empty());
}

}  // namespace
}  // namespace lockstep::support
