// The program on a SQLite file, with applications beside it that write and are killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <array>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/canonical_json.h"
#include "tests/support/documents.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/program.h"
#include "tests/support/random_seed.h"
#include "tests/support/recording_proxy.h"
#include "tests/support/servers.h"
#include "tests/support/sqlite_application.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;
using support::kPatience;

std::string content_at(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("no " + file.string());
  return text.str();
}

std::string content_of(const std::string& file) {
  return content_at(LOCKSTEP_SOURCE_DIR "/" + file);
}

/// Calls `row` with the texts of each row.
void query(
    const std::filesystem::path& file, const std::string& sql,
    const std::function<void(char** values)>& row = [](char**) {}) {
  sqlite3* database = nullptr;
  sqlite3_open(file.c_str(), &database);
  sqlite3_busy_timeout(database, 60'000);
  const auto call = [](void* to, int, char** values, char**) {
    (*static_cast<const std::function<void(char**)>*>(to))(values);
    return 0;
  };
  const int code =
      sqlite3_exec(database, sql.c_str(), call, const_cast<std::function<void(char**)>*>(&row), nullptr);
  const std::string message = sqlite3_errmsg(database);
  sqlite3_close(database);
  if (code != SQLITE_OK) throw std::runtime_error(sql + ": " + message);
}

std::string keyword_mapping() {
  std::string mapping = support::kStoringMapping;
  mapping.replace(mapping.find("\"dynamic\": false"), 16,
                  R"("dynamic": false, "properties": {"title": {"type": "keyword"}})");
  return mapping;
}

class SqliteFollowTest : public testing::Test {
 protected:
  SqliteFollowTest() {
    make_database(file_);
    folder_.write("lockstep.toml",
                  "[source]\nurl = 'sqlite:" + file_.string() + "'\n[elasticsearch]\nurls = ['" +
                      support::elasticsearch_url() + "']\n[[index]]\nalias = '" + index_.alias() +
                      "'\nmapping = 'blog.json'\nview = 'documents'\njson = ['user']\n" +
                      support::track("blogposts") + support::track("users", {{"column", "_user_id"}}));
    folder_.write("blog.json", support::kStoringMapping);
  }

  void TearDown() override {
    if (HasFailure() && service_) std::cerr << service_->err() << '\n';
  }

  static void make_database(const std::filesystem::path& file) {
    query(file, "pragma journal_mode = wal; " + content_of("schema/blog/sqlite/tables.sql") +
                    content_of("schema/blog/sqlite/documents.sql"));
  }

  support::Completed lockstep(const std::string& verb, const std::vector<std::string>& arguments = {}) const {
    std::vector<std::string> all{verb, "-c", (folder_.path() / "lockstep.toml").string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return support::run_program(support::lockstep_program(), all, {}, 2 * kPatience);
  }
  void must(const std::string& verb, const std::vector<std::string>& arguments = {}) const {
    const support::Completed completed = lockstep(verb, arguments);
    ASSERT_EQ(completed.exit_code, 0) << verb << ":\n" << completed.out << completed.err;
  }
  void apply_to_two_posts() const {
    query(file_,
          "insert into users (id, name) values (1, 'Ann'); "
          "insert into blogposts (id, title, user_id) values (1, 'old', 1), (2, 'two', 1)");
    must("apply", {"--yes"});
  }
  std::filesystem::path back_up() const {
    std::filesystem::path backup = folder_.path() / "backup.db";
    query(file_, "vacuum into '" + backup.string() + "'");
    return backup;
  }
  void start() {
    service_ = std::make_unique<support::Program>(
        support::lockstep_program(),
        std::vector<std::string>{"run", "-c", (folder_.path() / "lockstep.toml").string()});
  }
  std::unique_ptr<support::Program> start_writer() {
    return std::make_unique<support::Program>(
        "python3", std::vector<std::string>{LOCKSTEP_SOURCE_DIR "/tests/integration/sqlite_writer.py",
                                            file_.string(), std::to_string(random_())});
  }

  /// The real index behind the alias.
  std::string stands_for() const {
    return index_.server().expect("GET", "/_alias/" + index_.alias()).begin().key();
  }

  static constexpr std::array kFiles = {"", "-wal", "-shm"};

  /// In a process of its own: to close a descriptor of a database here would drop the locks of this one.
  static void copy(const std::filesystem::path& from, const std::filesystem::path& to) {
    ASSERT_EQ(support::run_program("cp", {from.string(), to.string()}).exit_code, 0);
  }

  void copy_to(const std::filesystem::path& folder) const {
    std::filesystem::create_directory(folder);
    for (const char* const end : kFiles)
      copy(file_.string() + end, folder / (file_.filename().string() + end));
  }
  void copy_back(const std::filesystem::path& folder) const {
    for (const char* const end : kFiles)
      copy(folder / (file_.filename().string() + end), file_.string() + end);
  }

  /// As Litestream does it: a reader keeps -wal from being begun anew, while the database and then the frames
  /// of each commit are copied. The last commit has not arrived whole.
  void ship_frames(const std::filesystem::path& backup) const {
    const std::string frames = backup.string() + "-wal";
    support::SqliteApplication reader(file_);
    reader.execute("begin; select 1 from blogposts");
    copy(file_, backup);
    query(file_, "insert into users (name) values ('shipped')");
    copy(file_.string() + "-wal", frames);
    const auto shipped = std::filesystem::file_size(frames);
    query(file_, "update blogposts set title = 'not shipped' where id = 1");
    copy(file_.string() + "-wal", frames);
    std::filesystem::resize_file(frames, shipped + 100);
    reader.execute("commit");
    query(backup, "pragma wal_checkpoint(truncate)");
    query(backup, "pragma integrity_check", [](char** row) { EXPECT_STREQ(row[0], "ok"); });
  }

  std::string title_of_first() const {
    std::string title;
    query(file_, "select title from blogposts where id = 1", [&](char** row) { title = row[0]; });
    return title;
  }

  /// As `.backup` and `.restore` do it.
  void restore(const std::filesystem::path& backup) const { copy_through_sqlite(backup, file_); }
  static void copy_through_sqlite(const std::filesystem::path& source, const std::filesystem::path& target) {
    sqlite3* from = nullptr;
    sqlite3* to = nullptr;
    sqlite3_open(source.c_str(), &from);
    sqlite3_open(target.c_str(), &to);
    sqlite3_busy_timeout(from, 60'000);
    sqlite3_busy_timeout(to, 60'000);
    sqlite3_backup* const copying = sqlite3_backup_init(to, "main", from, "main");
    sqlite3_backup_step(copying, -1);
    EXPECT_EQ(sqlite3_backup_finish(copying), SQLITE_OK);
    sqlite3_close(to);
    sqlite3_close(from);
  }

  /// What the index holds other than the view, which is read by a way that has no code in common with the
  /// product.
  std::string difference() const {
    support::ExpectedDocuments view;
    query(file_, "select _id, json_object('title', title, 'body', body, 'user', json(user)) from documents",
          [&](char** row) { view[{row[0]}] = support::canonical_json(row[1]); });
    return support::difference(view, index_.documents());
  }
  testing::AssertionResult becomes_equal() const {
    std::string last;
    const bool is_equal = support::wait_until([&] { return (last = difference()).empty(); }, kPatience, 50ms);
    return is_equal ? testing::AssertionSuccess() : testing::AssertionFailure() << last;
  }

  support::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "blog.db";
  support::ElasticsearchIndex index_{"sqlite"};
  std::mt19937_64 random_{support::random_seed()};
  std::unique_ptr<support::Program> service_;
};

// Whoever writes, and lockstep, are killed at random moments.
TEST_F(SqliteFollowTest, TheIndexEqualsTheViewWhateverIsKilled) {
  must("apply", {"--yes"});
  start();
  std::vector<std::unique_ptr<support::Program>> writers(3);
  for (auto& writer : writers) writer = start_writer();
  for (int kills = 0; kills < 12; ++kills) {
    auto& victim = writers[random_() % writers.size()];
    ASSERT_TRUE(support::wait_until([&] { return victim->out().size() > 100; }, kPatience)) << victim->err();
    ASSERT_TRUE(victim->running()) << "an application's statement failed: " << victim->err();
    victim = start_writer();  // kills the one before it
    if (kills % 3 == 0) {
      service_->kill();
      start();
    }
  }
  for (auto& writer : writers) {
    EXPECT_TRUE(writer->running()) << writer->err();
    writer->kill();
  }
  must("wait", {"--timeout", "60s", "--refresh"});
  EXPECT_EQ(difference(), "");
  must("verify");
  EXPECT_EQ(lockstep("status").exit_code, 0);

  service_->signal(SIGTERM);
  EXPECT_EQ(service_->wait(kPatience), 0);
  must("remove", {"--yes"});
  query(file_, "select name from sqlite_schema where name like '%lockstep%'",
        [](char** row) { ADD_FAILURE() << row[0] << " was left"; });
  EXPECT_FALSE(std::filesystem::exists(file_.string() + "-lockstep-lockstep"));
}

// SQLite's plans left the total of every backfill out.
TEST_F(SqliteFollowTest, ABackfillHasATotalOnceItHasBegun) {
  support::RecordingProxy proxy;
  proxy.disturb([](const support::HttpMessage& request) {
    return support::RecordingProxy::is_bulk(request) ? std::optional(support::Disturbance{.delay = 1s})
                                                     : std::nullopt;
  });
  std::string configuration = content_at(folder_.path() / "lockstep.toml");
  configuration.replace(configuration.find(support::elasticsearch_url()), support::elasticsearch_url().size(),
                        proxy.url());
  folder_.write("lockstep.toml", configuration + "[replication]\nchunk_documents = 500\n");
  query(file_,
        "insert into users (id, name) values (1, 'Ann'); with recursive n(i) as (values (1) union all "
        "select i + 1 from n where i < 9000) insert into blogposts (id, title, user_id) select i, 'p', 1 "
        "from n");
  must("apply", {"--yes"});
  start();
  nlohmann::json jobs;
  ASSERT_TRUE(support::wait_until(
      [&] {
        jobs = nlohmann::json::parse(lockstep("status", {"--json"}).out)["indices"][index_.alias()]["jobs"];
        return jobs.size() == 1 && jobs[0]["seconds_left"].is_number();
      },
      kPatience))
      << service_->err();
  EXPECT_EQ(jobs[0]["total"], 9'000) << jobs.dump();
  EXPECT_LT(jobs[0]["seconds_left"], 60) << jobs.dump();
}

TEST_F(SqliteFollowTest, AnotherFileAtItsPlaceIsNoticedAndComparedWithTheIndex) {
  apply_to_two_posts();
  const std::filesystem::path backup = back_up();
  start();
  ASSERT_TRUE(becomes_equal());
  query(file_, "update blogposts set title = 'new' where id = 1; delete from blogposts where id = 2");
  ASSERT_TRUE(becomes_equal());
  std::filesystem::rename(backup, file_);
  std::filesystem::remove(file_.string() + "-wal");
  std::filesystem::remove(file_.string() + "-shm");
  EXPECT_TRUE(becomes_equal());
  query(file_, "update users set name = 'Bea'");
  EXPECT_TRUE(becomes_equal()) << "it follows the new file";
}

TEST_F(SqliteFollowTest, AServiceOutlivesAFileThatIsAwayOrEmptyUntilItIsRestored) {
  apply_to_two_posts();
  const std::filesystem::path backup = back_up();
  start();
  ASSERT_TRUE(becomes_equal());
  query(file_, "update blogposts set title = 'new' where id = 1");
  ASSERT_TRUE(becomes_equal());
  const auto logs = [&](const std::string& text) {
    return support::wait_until([&] { return service_->err().find(text) != std::string::npos; }, kPatience,
                               50ms);
  };
  for (const char* const suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file_.string() + suffix);
  EXPECT_TRUE(logs("there is no file")) << service_->err();
  std::ofstream(file_).close();
  EXPECT_TRUE(logs("has not been applied")) << service_->err();
  EXPECT_TRUE(service_->running());
  std::filesystem::rename(backup, file_);
  EXPECT_TRUE(becomes_equal());
  EXPECT_TRUE(service_->running());
}

// The backup is of the same leadership, and the application passes what was noted of the file.
TEST_F(SqliteFollowTest, ABackupThatIsCopiedOverTheStoppedDatabaseIsNoticedAndCompared) {
  apply_to_two_posts();
  start();
  ASSERT_TRUE(becomes_equal());
  const std::filesystem::path backup = back_up();
  query(file_, "update blogposts set title = 'new' where id = 1; delete from blogposts where id = 2");
  ASSERT_TRUE(becomes_equal());
  service_->signal(SIGTERM);
  ASSERT_EQ(service_->wait(kPatience), 0);
  query(file_, "pragma wal_checkpoint(truncate)");
  std::ofstream(file_, std::ios::binary | std::ios::trunc) << std::ifstream(backup, std::ios::binary).rdbuf();
  for (int i = 0; i < 10; ++i) query(file_, "insert into blogposts (title, user_id) values ('more', 1)");
  start();
  EXPECT_TRUE(becomes_equal());
  EXPECT_NE(service_->err().find("the source was restored from an older state"), std::string::npos);
}

TEST_F(SqliteFollowTest, ABackupThatIsRestoredThroughSqliteBesideTheServiceIsNoticedAndCompared) {
  apply_to_two_posts();
  start();
  ASSERT_TRUE(becomes_equal());
  const std::filesystem::path backup = back_up();
  query(file_, "update blogposts set title = 'new' where id = 1; delete from blogposts where id = 2");
  ASSERT_TRUE(becomes_equal());
  restore(backup);
  EXPECT_TRUE(becomes_equal());
  EXPECT_NE(service_->err().find("older state"), std::string::npos) << service_->err();
}

// Writers are kept out, so that nothing begins the -wal anew between the copies; the service goes on reading.
TEST_F(SqliteFollowTest, ACopyOfItsFilesIsABackupWhileNobodyMayWrite) {
  apply_to_two_posts();
  start();
  ASSERT_TRUE(becomes_equal());
  support::SqliteApplication application(file_);
  application.execute("update blogposts set title = 'kept' where id = 1; begin immediate");
  copy_to(folder_.path() / "backup");
  application.execute(
      "commit; update blogposts set title = 'lost' where id = 1; delete from blogposts where id = 2");
  ASSERT_TRUE(becomes_equal());
  service_->signal(SIGTERM);
  ASSERT_EQ(service_->wait(kPatience), 0);
  application.close();
  for (const char* const end : kFiles) std::filesystem::remove(file_.string() + end);
  copy_back(folder_.path() / "backup");
  start();
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(title_of_first(), "kept");
  query(file_, "update users set name = 'Bea'");
  EXPECT_TRUE(becomes_equal());
}

TEST_F(SqliteFollowTest, EveryWayToBackUpBesideTheServiceGivesAFileThatItFollows) {
  apply_to_two_posts();
  start();
  ASSERT_TRUE(becomes_equal());
  const std::filesystem::path backup = folder_.path() / "backup.db";
  const std::vector<std::pair<std::string, std::function<void()>>> ways = {
      {"frames of -wal, up to a commit", [&] { ship_frames(backup); }},
      {".backup", [&] { copy_through_sqlite(file_, backup); }},
      // The last one, for its copy is not in -wal mode.
      {"vacuum into", [&] { query(file_, "vacuum into '" + backup.string() + "'"); }}};
  for (const auto& [way, back_up] : ways) {
    query(file_, "update blogposts set title = '" + way + "' where id = 1");
    back_up();
    query(file_, "update blogposts set title = 'lost' where id = 1; update users set name = name || 'x'");
    ASSERT_TRUE(becomes_equal()) << way;
    std::filesystem::rename(backup, file_);
    for (const char* const end : {"-wal", "-shm"}) std::filesystem::remove(file_.string() + end);
    EXPECT_TRUE(becomes_equal()) << way;
    EXPECT_EQ(title_of_first(), way);
    query(file_, "insert into blogposts (title, user_id) values ('after " + way + "', 1)");
    EXPECT_TRUE(becomes_equal()) << way;
  }
  EXPECT_TRUE(service_->running());
}

// Each took the indices from the other for ever.
TEST_F(SqliteFollowTest, OfTwoServicesOnTwoCopiesOneEndsAndSaysWhy) {
  query(file_,
        "insert into users (id, name) values (1, 'Ann'); "
        "insert into blogposts (id, title, user_id) values (1, 'old', 1)");
  must("apply", {"--yes"});
  start();
  ASSERT_TRUE(becomes_equal());
  const std::filesystem::path copy = folder_.path() / "copy.db";
  query(file_, "vacuum into '" + copy.string() + "'");
  query(copy, "update blogposts set title = 'of the copy'");
  std::string other = content_at(folder_.path() / "lockstep.toml");
  other.replace(other.find(file_.string()), file_.string().size(), copy.string());
  folder_.write("copy.toml", other);
  support::Program second(support::lockstep_program(),
                          {"run", "-c", (folder_.path() / "copy.toml").string()});
  ASSERT_TRUE(support::wait_until([&] { return index_.get("1")->json.find("copy") != std::string::npos; },
                                  kPatience, 50ms));
  query(file_, "update blogposts set title = 'newer' where id = 1");
  EXPECT_EQ(service_->wait(kPatience), 2);
  EXPECT_NE(service_->err().find("follows a copy of the source"), std::string::npos) << service_->err();
  EXPECT_TRUE(second.running());
  EXPECT_NE(lockstep("status").out.find("follows a copy of the source"), std::string::npos);
}

// The application writes at every step; the leader is killed on the way there.
TEST_F(SqliteFollowTest, AnIndexIsReindexedAndTakenBackBesideWrites) {
  query(
      file_,
      "insert into users (id, name) values (1, 'Ann'); "
      "insert into blogposts (title, user_id) with recursive i(n) as (select 1 union all select n + 1 from i "
      "where n < 300) select 'post ' || n, 1 from i");
  must("apply", {"--yes"});
  start();
  ASSERT_TRUE(becomes_equal());
  folder_.write("blog.json", keyword_mapping());
  support::Program reindex(support::lockstep_program(),
                           {"reindex", index_.alias(), "-c", (folder_.path() / "lockstep.toml").string()});
  ASSERT_TRUE(support::wait_until([&] { return index_.concrete().size() == 2; }, kPatience)) << reindex.err();
  service_->signal(
      SIGTERM);  // after a kill the next one waits until the writes of the last one cannot come any more
  ASSERT_EQ(service_->wait(kPatience), 0) << service_->err();
  query(file_,
        "update blogposts set title = 'on the way' where id <= 20; delete from blogposts where id = 21");
  start();
  EXPECT_EQ(reindex.wait(2 * kPatience), 0) << reindex.err();
  EXPECT_EQ(stands_for(), index_.alias() + "-000002");
  query(file_, "update blogposts set title = 'there' where id <= 10; delete from blogposts where id = 22");
  must("reindex", {"--back"});
  EXPECT_EQ(stands_for(), index_.alias() + "-000001");
  EXPECT_TRUE(becomes_equal());
  EXPECT_NE(lockstep("status").out.find("kept"), std::string::npos);
  query(file_, "update blogposts set title = 'and back' where id <= 5; delete from blogposts where id = 23");
  must("reindex", {"--back"});
  must("reindex", {"--finish", "--yes"});
  EXPECT_EQ(index_.concrete(), std::vector<std::string>{index_.alias() + "-000002"});
  EXPECT_TRUE(becomes_equal());
  query(file_, "select alias from lockstep_reindex", [](char** row) { ADD_FAILURE() << row[0]; });
  must("plan", {"--exit-code"});
}

// Nobody looked at the other index again.
TEST_F(SqliteFollowTest, AReindexOfWhichARestoredFileKnowsNothingLeavesNoIndex) {
  query(file_,
        "insert into users (id, name) values (1, 'Ann'); insert into blogposts (title, user_id) values ('a "
        "post', 1)");
  must("apply", {"--yes"});
  start();
  ASSERT_TRUE(becomes_equal());
  const std::filesystem::path backup = back_up();
  folder_.write("blog.json", keyword_mapping());
  must("reindex", {index_.alias()});
  ASSERT_EQ(index_.concrete().size(), 2u);
  service_->signal(SIGTERM);
  ASSERT_EQ(service_->wait(kPatience), 0) << service_->err();
  restore(backup);
  start();
  EXPECT_TRUE(support::wait_until([&] { return index_.concrete().size() == 1; }, kPatience))
      << service_->err();
  EXPECT_EQ(stands_for(), index_.alias() + "-000002");
  EXPECT_TRUE(becomes_equal());
}

}  // namespace
}  // namespace lockstep
