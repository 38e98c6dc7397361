// `lockstep reindex`: a mapping that needs a new index is changed while everybody searches and writes, and
// changed back; and whatever is killed on the way, it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/blog_pipeline.h"

namespace lockstep::support {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string mapping_of_title(const std::string& type) {
  return R"({"settings": {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "100ms"},
             "mappings": {"dynamic": false, "properties": {"title": {"type": ")" +
         type + R"("}}}})";
}

/// Searches through the alias without a pause.
class Searcher {
 public:
  Searcher(const std::string& alias, std::int64_t documents)
      : thread_([this, alias, documents] {
          ElasticsearchServer server;
          while (!stop_) {
            const auto reply = server.request("GET", "/" + alias + "/_search?size=1&track_total_hits=true");
            const bool fits = reply.status == 200 && reply.json().at("_shards").at("failed") == 0 &&
                              reply.json().at("hits").at("total").at("value") == documents;
            if (!fits && wrong_++ == 0) first_wrong_ = reply.body;
            ++searches_;
          }
        }) {}
  ~Searcher() { end(); }

  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int searches() const { return searches_; }
  /// Those that failed, or found more or fewer documents than there are.
  int wrong() const { return wrong_; }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> searches_{0};
  std::atomic<int> wrong_{0};
  std::string first_wrong_;
  std::thread thread_;
};

class ReindexVerb : public BlogTest {
 protected:
  ReindexVerb() { pipeline_.set_mapping("posts", mapping_of_title("text")); }

  std::string generation(int number) const { return posts_.alias() + "-00000" + std::to_string(number); }
  std::string stands_for() const {
    const nlohmann::json found = posts_.server().request("GET", "/_alias/" + posts_.alias()).json();
    std::string names;
    for (const auto& [name, index] : found.items()) names += (names.empty() ? "" : ", ") + name;
    return names;
  }
  std::string state() {
    const auto connection = database_.connect();
    pqxx::nontransaction direct(*connection);
    return direct.exec1("select coalesce((select state from lockstep.reindex), 'none')")[0].c_str();
  }
  std::unique_ptr<Program> begin_reindex(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"reindex", "-c", pipeline_.configuration().string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::make_unique<Program>(lockstep_program(), all);
  }
  /// Nothing of a reindex is left on either side.
  void expect_nothing_left(int generation_number) {
    EXPECT_EQ(state(), "none");
    EXPECT_THAT(posts_.concrete(), ElementsAre(generation(generation_number)));
    const auto aliases = posts_.server().expect("GET", "/" + generation(generation_number) + "/_alias");
    EXPECT_EQ(aliases.at(generation(generation_number)).at("aliases").size(), 1U) << aliases;
    EXPECT_EQ(database_.number("select count(*) from lockstep.index"), 1);
    EXPECT_EQ(database_.number("select count(*) from lockstep.index where written_by is not null"), 0);
  }
};

TEST_F(ReindexVerb, SwapsAndWaysBackUnderLoadFailNoSearchAndLoseNothing) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1 + i % 5, 'post ' || i from "
      "generate_series(1001, 4000) i");
  follow();
  ASSERT_TRUE(becomes_equal());
  posts_.server().expect("POST", "/" + posts_.alias() + "/_refresh");
  pipeline_.set_mapping("posts", mapping_of_title("keyword"));
  const Completed refused = pipeline_.lockstep("apply", {"--yes"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("run `lockstep reindex " + posts_.alias() + "`"));
  const std::string dry = pipeline_.must("reindex", {"--dry-run"});
  EXPECT_THAT(dry, HasSubstr("3,020 documents"));
  EXPECT_THAT(dry, HasSubstr("more on disk, replicas included; "));
  EXPECT_THAT(dry, HasSubstr("to fill it; the last time 3,020 documents filled in"));
  const auto forecast =
      nlohmann::json::parse(pipeline_.must("reindex", {"--dry-run", "--json", "--max-rate", "20"}));
  EXPECT_EQ(forecast.at("indices").at(0).at("fill_seconds"), 151);
  EXPECT_EQ(state(), "none") << "a dry run does nothing";

  Searcher searcher(posts_.alias(), 3'020);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    const auto connection = database_.connect();
    for (int i = 0; !stop; ++i) {
      support::execute(*connection, "update blog.posts set title = 'changed " + std::to_string(i) +
                                        "' where id = " + std::to_string(1'001 + i % 3'000));
      if (i % 500 == 250)
        support::execute(*connection,
                         "update blog.authors set name = name || 'x' where id = 2");  // 604 posts
      std::this_thread::sleep_for(20ms);  // a writer that is not always at work
    }
  });
  const auto one = begin_reindex({});
  const auto two = begin_reindex({posts_.alias()});
  EXPECT_EQ(one->wait(2 * kPatience), 0) << one->err();
  EXPECT_EQ(two->wait(2 * kPatience), 0) << two->err();
  EXPECT_EQ(stands_for(), generation(2));
  for (int number : {1, 2}) {
    pipeline_.must("reindex", {"--back"});
    EXPECT_EQ(stands_for(), generation(number));
  }
  stop = true;
  writer.join();
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(pipeline_.lockstep("verify").exit_code, 0) << "both generations";
  EXPECT_EQ(pipeline_.lockstep("apply", {"--yes"}).exit_code, 0) << "the mapping is what the file says";
  pipeline_.must("reindex", {"--finish", "--yes"});
  searcher.end();
  EXPECT_GT(searcher.searches(), 100);
  EXPECT_EQ(searcher.wrong(), 0) << "of " << searcher.searches() << ": " << searcher.first_wrong();
  expect_nothing_left(2);
  const auto mapping = posts_.server().expect("GET", "/" + posts_.alias() + "/_mapping");
  EXPECT_EQ(mapping.at(generation(2)).at("mappings").at("properties").at("title").at("type"), "keyword");
  const auto settings = posts_.server().expect("GET", "/" + posts_.alias() + "/_settings?flat_settings=true");
  EXPECT_EQ(settings.at(generation(2)).at("settings").at("index.refresh_interval"), "100ms");
  execute("update blog.posts set title = 'afterwards' where id = 1");
  EXPECT_TRUE(becomes_equal());
}

// They went with the old index, and no command said so.
TEST_F(ReindexVerb, OtherAliasesMoveAlongWithWhatTheySay) {
  follow();
  ASSERT_TRUE(becomes_equal());
  const std::string filtered = posts_.alias() + "-of-author-1";
  const std::string plain = posts_.alias() + "-shop";
  const auto put_alias = [&](const std::string& alias, const std::string& options) {
    posts_.server().expect("PUT", "/" + generation(1) + "/_alias/" + alias, options);
  };
  put_alias(filtered, R"({"filter": {"match": {"author": "author 1"}}, "routing": "1"})");
  put_alias(plain, "{}");
  posts_.server().expect("POST", "/_aliases",
                         R"({"actions": [{"add": {"index": ")" + generation(1) + R"(", "alias": ")" +
                             posts_.alias() + R"(", "is_hidden": true}}]})");
  pipeline_.set_mapping("posts", mapping_of_title("keyword"));
  const std::string named = "the new index gets these others of the old one: " + filtered + ", " + plain;
  EXPECT_THAT(pipeline_.lockstep("plan").out, HasSubstr(named));
  EXPECT_THAT(pipeline_.must("reindex", {"--dry-run"}), HasSubstr(named));
  EXPECT_EQ(nlohmann::json::parse(pipeline_.must("reindex", {"--dry-run", "--json"}))
                .at("indices")
                .at(0)
                .at("other_aliases")
                .size(),
            2U);
  const Completed reindexed = pipeline_.lockstep("reindex");
  EXPECT_EQ(reindexed.exit_code, 0) << reindexed.err;
  EXPECT_THAT(reindexed.err, HasSubstr(named));
  const auto expect_at = [&](int number) {
    const auto aliases_of = [&](int each) {
      return posts_.server().expect("GET", "/" + generation(each)).at(generation(each)).at("aliases");
    };
    const nlohmann::json its = aliases_of(number);
    EXPECT_TRUE(its.at(filtered).contains("filter")) << its;
    EXPECT_EQ(its.at(filtered).at("search_routing"), "1") << its;
    EXPECT_TRUE(its.contains(plain)) << its;
    EXPECT_EQ(its.at(posts_.alias()).value("is_hidden", false), true) << its;
    EXPECT_EQ(aliases_of(3 - number).size(), 1U) << aliases_of(3 - number);
  };
  expect_at(2);
  pipeline_.must("reindex", {"--back"});
  expect_at(1);
}

// `apply` reads the generations more than once: it dropped one that a step had added in between, and the
// reindex was stuck.
TEST_F(ReindexVerb, AStepThatAddsAnIndexWaitsForAnApplyThatIsUnderWay) {
  follow();
  ASSERT_TRUE(becomes_equal());
  const auto connection = database_.connect();
  pqxx::work apply(*connection);
  apply.exec("select pg_advisory_xact_lock(hashtextextended('lockstep apply lockstep', 0))");
  const auto reindex = begin_reindex({posts_.alias()});
  ASSERT_TRUE(wait_until([&] { return posts_.concrete().size() == 2; }, kPatience));
  execute("update blog.posts set title = 'meanwhile' where id = 1");
  EXPECT_TRUE(becomes_equal()) << "changes do not wait";
  EXPECT_EQ(state(), "creating");
  apply.abort();
  EXPECT_EQ(reindex->wait(kPatience), 0) << reindex->err();
  EXPECT_EQ(stands_for(), generation(2));
}

TEST_F(ReindexVerb, ItIsNeverFasterThanItsLimitWhichOutlivesAKill) {
  execute(
      "insert into blog.posts (id, author_id, title) select i, 1, 'post' from generate_series(1001, 5980) i");
  follow();
  ASSERT_TRUE(becomes_equal());
  pipeline_.set_mapping("posts", mapping_of_title("keyword"));
  restart();
  for (const char* const wrong : {"--max-rate=-1", "--max-rate=many"}) {
    const Completed refused = pipeline_.lockstep("reindex", {wrong});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--max-rate"));
  }
  const auto done = [&] {
    return database_.number("select coalesce((select done from lockstep.job where kind = 'backfill'), 0)");
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds_since = [](auto moment) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - moment).count();
  };
  const auto reindex = begin_reindex({"--max-rate", "100"});
  ASSERT_TRUE(wait_until([&] { return done() >= 50; }, kPatience));
  EXPECT_LE(static_cast<double>(done()), 100 * seconds_since(begin));
  EXPECT_THAT(pipeline_.must("status"), HasSubstr(", at most 100 documents/s"));
  EXPECT_EQ(pipeline_.status().at("reindexes").at(0).at("max_rate"), 100);
  execute("update blog.posts set title = 'a small change' where id = 1980");
  EXPECT_TRUE(becomes_equal());
  EXPECT_EQ(state(), "filling") << "the small change did not wait for it";

  kill();
  const std::int64_t before = done();
  const auto resumed = std::chrono::steady_clock::now();
  restart();
  ASSERT_TRUE(wait_until([&] { return done() >= before + 50; }, kPatience));
  EXPECT_LE(static_cast<double>(done() - before), 100 * seconds_since(resumed));
  EXPECT_EQ(state(), "filling");
  const Completed lifted = pipeline_.lockstep("reindex", {"--max-rate", "0"});
  EXPECT_EQ(lifted.exit_code, 0) << lifted.err;
  EXPECT_THAT(lifted.err, HasSubstr("it has no limit from now on"));
  EXPECT_LT(seconds_since(begin), 45) << "with the limit it takes 50 s";
  EXPECT_EQ(reindex->wait(kPatience), 0) << reindex->err();
  EXPECT_EQ(stands_for(), generation(2));
  EXPECT_TRUE(becomes_equal());
}

TEST_F(ReindexVerb, KilledWithARequestOfAnyStepOnItsWayItGoesOn) {
  follow();
  ASSERT_TRUE(becomes_equal());
  pipeline_.set_mapping("posts", mapping_of_title("keyword"));
  restart();  // with the new file
  struct KillPoint {
    const char* method;
    std::string path;
    std::string body;  // what it has in it
  };
  const std::vector<KillPoint> points = {
      {"PUT", "/" + generation(2), "reindex"},               // the new index
      {"POST", "/_aliases", generation(1) + "-w"},           // the alias for writing of the old one
      {"POST", "/_bulk", generation(2) + "-w"},              // its documents
      {"PUT", "/" + generation(2) + "/_settings", "100ms"},  // refreshes and replicas again
      {"POST", "/_aliases", "is_write_index"},               // the swap
      {"DELETE", "/" + generation(1), ""},
  };
  const auto reindex = begin_reindex({"--keep", "1s"});
  int kills = 0;
  for (const KillPoint& point : points) {
    std::atomic<bool> reached{false};
    proxy_.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
      const bool is_it = request.method() == point.method && request.target().starts_with(point.path) &&
                         request.body.find(point.body) != std::string::npos;
      if (!is_it || reached.exchange(true)) return std::nullopt;
      return Disturbance{.delay = 300ms};  // it arrives when its sender is dead
    });
    ASSERT_TRUE(wait_until([&] { return reached.load(); }, kPatience)) << point.method << ' ' << point.path;
    kill();
    ++kills;
    proxy_.disturb({});
    execute("update blog.posts set title = 'kill " + std::to_string(kills) +
            "' where id = " + std::to_string(kills));
    execute("delete from blog.posts where id = " + std::to_string(20 - kills));
    restart();
  }
  EXPECT_EQ(reindex->wait(kPatience), 0) << reindex->err();
  EXPECT_TRUE(wait_until([&] { return state() == "none"; }, kPatience)) << state();
  EXPECT_TRUE(becomes_equal());
  expect_nothing_left(2);
  EXPECT_EQ(stands_for(), generation(2));
}

}  // namespace
}  // namespace lockstep::support
