// The ways that docs/migrations.md shows from one view to another, walked while everybody writes and
// searches: no statement and no search fails, no search finds nothing or documents of both views, and at the
// end each index equals its view.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/sqlite_application.h"
#include "tests/support/temporary_folder.h"

namespace lockstep::support {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kPosts = 60;
// The first ones change their author. Where that is their routing, they are deleted and written in one
// request, and a refresh that falls between hides them for a moment.
constexpr int kMoving = 20;

constexpr const char* kSchema =
    "create table authors (id integer primary key, name text); "
    "create table posts (id integer primary key, title text, body text, author_id integer); "
    "create index posts_author on posts (author_id); "
    "insert into authors values (1, 'Ann'), (2, 'Ben'), (3, 'Cleo'); ";
constexpr const char* kView =
    "create view posts_1 as select p.id as _id, p.author_id as _author_id, p.title, p.body, a.name as author "
    "from posts as p join authors as a on a.id = p.author_id; ";

constexpr const char* kMapping =
    R"({"settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "50ms"},
        "mappings": {"dynamic": false}})";

/// One thread's work without a pause, until it is destroyed; what it throws is a failure.
class Work {
 public:
  explicit Work(std::function<void(int round)> round)
      : thread_([this, round = std::move(round)] {
          for (; !stop_; ++rounds_) {
            try {
              round(rounds_);
            } catch (const std::exception& error) {
              fail(error.what());
            }
          }
        }) {}
  ~Work() { end(); }

  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int rounds() const { return rounds_; }
  /// The first ones, and how many there are.
  std::string failures() const {
    const std::lock_guard lock(mutex_);
    if (failures_.empty()) return "";
    return std::to_string(failures_.size()) + ", the first: " + failures_.front();
  }

 private:
  void fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(why);
  }

  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> failures_;
  std::thread thread_;
};

/// What tells documents of one view from those of another.
using Form = std::function<std::string(const json& hit)>;

std::string fields_of(const json& hit) {
  std::string names;
  for (const auto& [name, value] : hit.at("_source").items()) names += name + " ";
  return names;
}

/// What is wrong with a reply; empty: nothing.
std::string complaint_about(const ElasticsearchServer::Reply& reply, const Form& form,
                            std::size_t least = kPosts) {
  if (reply.status != 200) return std::to_string(reply.status) + " " + reply.body;
  const json found = reply.json();
  if (found.at("_shards").at("failed") != 0) return "a shard failed: " + reply.body;
  std::set<std::string> forms;
  std::set<std::string> ids;
  for (const json& hit : found.at("hits").at("hits")) {
    forms.insert(form(hit));
    if (!ids.insert(hit.at("_id").get<std::string>()).second) return "twice " + hit.dump();
  }
  if (ids.size() < least) return "only " + std::to_string(ids.size()) + " documents";
  return forms.size() < 2 ? "" : "of two views: " + *forms.begin() + " and " + *forms.rbegin();
}

class ViewChanges : public testing::Test {
 protected:
  ViewChanges()
      : posts_(pipeline_.add_index(
            "views", "public.posts_1",
            track("public.posts") + track("public.authors", {{"column", "_author_id"}}), kMapping)) {
    execute(
        std::string(kSchema) + kView +
        "insert into posts select i, 'title ' || i, 'body ' || i, 1 + i % 3 from generate_series(1, 60) i");
    pipeline_.apply();
    program_ = pipeline_.start();
    pipeline_.must("wait", {"--refresh"});
  }

  void TearDown() override {
    if (HasFailure()) std::cout << program_->err() << '\n';
  }

  void execute(const std::string& sql) { database_.execute(sql); }

  /// Writers of every kind and searches, until rest().
  void load(const Form& form, std::size_t least = kPosts) {
    writer_ = std::make_unique<Work>([this, connection = std::shared_ptr(database_.connect())](int round) {
      support::execute(*connection, statement(round));
      std::this_thread::sleep_for(5ms);  // a writer that is not always at work
    });
    searcher_ = std::make_unique<Work>(
        [this, form, least, server = std::make_shared<ElasticsearchServer>()](int /*round*/) {
          const auto reply = server->request("GET", "/" + posts_.alias() + "/_search?size=2000");
          if (const std::string complaint = complaint_about(reply, form, least); !complaint.empty())
            throw std::runtime_error(complaint);
        });
  }
  void rest() {
    writer_->end();
    searcher_->end();
    EXPECT_EQ(writer_->failures(), "");
    EXPECT_EQ(searcher_->failures(), "");
    EXPECT_GT(writer_->rounds(), 20);
    EXPECT_GT(searcher_->rounds(), 5);
  }
  /// Writers name the column so from now on, and nobody the other way.
  void name_title(const std::string& column) {
    {
      const std::lock_guard lock(mutex_);
      title_ = column;
    }
    const int rounds = writer_->rounds();
    EXPECT_TRUE(wait_until([&] { return writer_->rounds() > rounds + 1; }, kPatience));
  }
  std::string statement(int round) {
    const std::lock_guard lock(mutex_);
    const std::string number = std::to_string(round);
    const std::string post = " where id = " + std::to_string(1 + round % kPosts);
    switch (round % 7) {
      case 0:
        return "insert into posts (id, " + title_ + ", body, author_id) values (" +
               std::to_string(1'000 + round) + ", 'new', 'of " + number + "', 1)";
      case 1:
        return "update posts set " + title_ + " = 'changed " + number + "'" + post;
      case 2:
        return "update posts set body = 'rewritten " + number + "'" + post;
      case 3:
        return "update authors set name = 'Ann the " + number + ".' where id = 1";
      case 4:
        return "update posts set author_id = 1 + (author_id % 3) where id = " +
               std::to_string(1 + round % kMoving);
      case 5:
        return "update posts set id = id + 10000 where id = " + std::to_string(1'000 + round - 5);
      default:
        return "delete from posts where id = " + std::to_string(11'000 + round - 6);
    }
  }

  /// The view of the configuration is another one, with these tracks.
  void configure(const std::string& view, const std::string& tracks) {
    pipeline_.set_view("views", view);
    pipeline_.set_tracks("views", tracks);
  }
  /// Both indices, or the one that there is.
  void expect_equal() {
    pipeline_.must("wait", {"--refresh"});
    pipeline_.must("verify");
  }
  std::string a_document() {
    return posts_.server().expect("GET", "/" + posts_.alias() + "/_search?size=1").dump();
  }
  std::string state() {
    return database_.value("select coalesce((select state from lockstep.reindex), 'none')").value();
  }

  PostgresDatabase database_;
  PipelineUnderTest pipeline_{database_};
  ElasticsearchIndex& posts_;
  std::unique_ptr<Program> program_;
  std::mutex mutex_;
  std::string title_ = "title";
  std::unique_ptr<Work> writer_;
  std::unique_ptr<Work> searcher_;
};

TEST_F(ViewChanges, AColumnAtTheEndIsAddedInPlace) {
  // Searches see documents with it and without until all are written.
  load([](const json&) { return ""; });
  execute(
      "create or replace view posts_1 as select p.id as _id, p.author_id as _author_id, p.title, p.body, "
      "a.name "
      "as author, length(p.body) as length from posts as p join authors as a on a.id = p.author_id");
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("searches see both forms until then"));
  const json index = json::parse(pipeline_.must("plan", {"--json"})).at("indices").at(0);
  EXPECT_EQ(index.at("differences").at(0).at("place"), "column length");
  EXPECT_EQ(index.at("differences").at(0).at("way"), "in_place");
  pipeline_.apply();
  pipeline_.must("wait");
  rest();
  expect_equal();
  EXPECT_THAT(a_document(), HasSubstr("\"length\""));
}

TEST_F(ViewChanges, AnotherViewGetsASecondIndexAndIsLeftAgain) {
  load(fields_of);
  execute(
      "create view posts_2 as select p.id as _id, p.author_id as _author_id, p.title, left(p.body, 8) as "
      "excerpt, "
      "json_build_object('id', a.id, 'name', a.name) as author "
      "from posts as p join authors as a on a.id = p.author_id");
  configure("public.posts_2", track("public.posts") + track("public.authors", {{"column", "_author_id"}}));
  const Completed refused = pipeline_.lockstep("apply", {"--yes"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("view is public.posts_1, wanted public.posts_2"),
                                 HasSubstr("run `lockstep reindex " + posts_.alias() + "`")));
  pipeline_.must("reindex");
  EXPECT_THAT(a_document(), HasSubstr("excerpt"));
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
  pipeline_.must("reindex", {"--back"});
  EXPECT_THAT(a_document(), HasSubstr("\"body\""));
  EXPECT_THAT(pipeline_.lockstep("plan").out, HasSubstr("cannot apply"));
  pipeline_.must("reindex", {"--back"});
  rest();
  expect_equal();
  pipeline_.must("reindex", {"--finish", "--yes"});
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
  execute("drop view posts_1");
  expect_equal();
}

TEST_F(ViewChanges, AColumnIsRenamedWhileWritersUseEitherName) {
  load(fields_of);
  // Expand: both columns, each with what was written into the other one.
  execute(
      "alter table posts add column headline text; "
      "create function both_names() returns trigger language plpgsql as $$ begin "
      "if tg_op = 'INSERT' then new.headline := coalesce(new.headline, new.title); new.title := "
      "new.headline; "
      "elsif new.headline is distinct from old.headline then new.title := new.headline; "
      "else new.headline := new.title; end if; return new; end $$; "
      "create trigger both_names before insert or update on posts for each row execute function "
      "both_names(); "
      "update posts set headline = title; "
      "create view posts_2 as select p.id as _id, p.author_id as _author_id, p.headline, p.body, a.name as "
      "author "
      "from posts as p join authors as a on a.id = p.author_id");
  configure("public.posts_2", track("public.posts") + track("public.authors", {{"column", "_author_id"}}));
  pipeline_.must("reindex");
  // Contract.
  name_title("headline");
  pipeline_.must("reindex", {"--finish", "--yes"});
  execute("drop view posts_1; drop trigger both_names on posts; alter table posts drop column title");
  const int rounds = writer_->rounds();
  EXPECT_TRUE(wait_until([&] { return writer_->rounds() > rounds + 7; }, kPatience));
  rest();
  expect_equal();
  EXPECT_THAT(pipeline_.must("plan"), HasSubstr("nothing to do"));
  EXPECT_THAT(program_->err(), testing::Not(HasSubstr("do not fit")));
}

TEST_F(ViewChanges, DocumentsGetAnotherIdThoughTheServiceIsKilled) {
  load([](const json& hit) { return hit.at("_id").get<std::string>().substr(0, 1) == "p" ? "p" : ""; });
  execute(
      "create view posts_2 as select 'p' || p.id as _id, p.id as _post_id, p.author_id as _author_id, "
      "p.title, "
      "a.name as author from posts as p join authors as a on a.id = p.author_id");
  configure("public.posts_2", track("public.posts", {{"row", "'p' || id"}}) +
                                  track("public.authors", {{"column", "_author_id"}}));
  const Program reindex(lockstep_program(), {"reindex", "-c", pipeline_.configuration().string()});
  for (const bool is_filled : {false, true}) {
    EXPECT_TRUE(wait_until(
        [&] {
          const std::string now = state();
          return now != "none" && (!is_filled || now != "creating");
        },
        kPatience));
    program_->kill();
    program_ = pipeline_.start();
  }
  EXPECT_TRUE(wait_until([&] { return state() == "kept"; }, kPatience)) << state() << ": " << reindex.err();
  rest();
  expect_equal();
  EXPECT_THAT(a_document(), HasSubstr("\"_id\":\"p"));
}

TEST_F(ViewChanges, DocumentsGetARoutingAndMoveByIt) {
  load([](const json& hit) { return hit.contains("_routing") ? "routed" : "not"; }, kPosts - kMoving);
  execute(
      "create view posts_2 as select p.id as _id, p.author_id as _author_id, 'by' || p.author_id as "
      "_routing, "
      "p.title, p.body, a.name as author from posts as p join authors as a on a.id = p.author_id");
  configure("public.posts_2", track("public.posts") + track("public.authors", {{"column", "_author_id"}}));
  pipeline_.must("reindex");
  EXPECT_THAT(a_document(), HasSubstr("\"_routing\":\"by"));
  pipeline_.must("reindex", {"--back"});
  rest();
  expect_equal();
}

TEST(SqliteViewChanges, AnotherViewGetsASecondIndexAndIsLeftAgain) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "blog.db";
  SqliteApplication application(file);
  application.execute(
      std::string("pragma journal_mode = wal; ") + kSchema + kView +
      "insert into posts with recursive n(i) as (select 1 union all select i + 1 from n where i < "
      "60) select i, 'title ' || i, 'body ' || i, 1 + i % 3 from n; "
      "create view posts_2 as select 'p' || p.id as _id, p.author_id as _author_id, p.title, "
      "'by' || a.id as _routing from posts as p join authors as a on a.id = p.author_id");
  PipelineUnderTest pipeline("sqlite:" + file.string());
  ElasticsearchIndex& posts = pipeline.add_index(
      "views", "posts_1", track("posts") + track("authors", {{"column", "_author_id"}}), kMapping);
  pipeline.apply();
  const auto program = pipeline.start();
  pipeline.must("wait", {"--refresh"});
  std::unique_ptr<Work> searcher;
  searcher = std::make_unique<Work>([&, server = std::make_shared<ElasticsearchServer>()](int /*round*/) {
    const auto reply = server->request("GET", "/" + posts.alias() + "/_search?size=2000");
    if (const std::string complaint = complaint_about(reply, fields_of, kPosts - kMoving); !complaint.empty())
      throw std::runtime_error(complaint);
  });
  Work writer([&, own = std::make_shared<SqliteApplication>(file)](int round) {
    own->execute(round % 3 == 0
                     ? "update authors set name = 'x" + std::to_string(round) + "' where id = 1"
                     : "update posts set title = 'changed', author_id = 1 + (author_id % 3) where id = " +
                           std::to_string(1 + round % kMoving));
    std::this_thread::sleep_for(10ms);
  });
  pipeline.set_view("views", "posts_2");
  pipeline.set_tracks("views",
                      track("posts", {{"row", "'p' || id"}}) + track("authors", {{"column", "_author_id"}}));
  EXPECT_EQ(pipeline.lockstep("apply", {"--yes"}).exit_code, 1);
  const auto expect_equal = [&] {
    pipeline.must("wait", {"--refresh"});
    pipeline.must("verify");
  };
  pipeline.must("reindex");
  EXPECT_THAT(pipeline.must("plan"), HasSubstr("nothing to do"));
  pipeline.must("reindex", {"--back"});
  writer.end();
  searcher->end();
  EXPECT_EQ(writer.failures(), "");
  EXPECT_EQ(searcher->failures(), "");
  expect_equal();
  pipeline.must("reindex", {"--back"});
  pipeline.must("reindex", {"--finish", "--yes"});
  EXPECT_THAT(pipeline.must("plan"), HasSubstr("nothing to do"));
  application.execute("drop view posts_1");
  expect_equal();
}

}  // namespace
}  // namespace lockstep::support
