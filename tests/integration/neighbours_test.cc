// One document or one index that nobody can write, for a while or for good: all the others go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include "tests/integration/items_and_others.h"
#include "tests/support/eventually.h"
#include "tests/support/pipeline_under_test.h"
#include "tests/support/recording_proxy.h"

namespace lockstep::support {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Neighbours : public testing::Test {
 protected:
  Neighbours() : pipeline_(database_, proxy_.url()) { add_items_and_others(pipeline_); }

  void TearDown() override {
    if (HasFailure() && program_ != nullptr) std::cout << program_->err();
    for (const std::string& violation : proxy_.history().violations()) ADD_FAILURE() << violation;
  }

  void follow() {
    pipeline_.apply();
    pipeline_.catch_up();
    restart();
    ASSERT_TRUE(others_follow());
  }
  void restart() {
    if (program_ != nullptr) program_->kill();
    program_ = pipeline_.start();
  }
  void execute(const std::string& sql) { database_.execute(sql); }

  /// The items' index, behind the pipeline's back.
  void set_items(const std::string& setting, bool on) {
    items().server().expect("PUT", "/" + items().concrete().at(0) + "/_settings",
                            "{\"index." + setting + "\": " + (on ? "true" : "null") + "}");
  }
  ElasticsearchIndex& items() { return pipeline_.index("items"); }

  bool others_follow(milliseconds deadline = kPatience) {
    const std::string name = "change " + std::to_string(++changes_);
    database_.execute("update others set name = '" + name + "' where id = 1");
    return wait_until(
        [&] {
          const auto found = pipeline_.index("others").get("1");
          return found && found->json.find(name) != std::string::npos;
        },
        deadline, milliseconds(2));
  }

  /// Changes the others so many times while `meanwhile` is done before each; the delays, rising.
  std::vector<milliseconds> delays_of_others(int times, const std::function<void(int)>& meanwhile) {
    std::vector<milliseconds> delays;
    for (int i = 0; i < times; ++i) {
      meanwhile(i);
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_TRUE(others_follow()) << "the others stand still at change " << i;
      delays.push_back(std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin));
    }
    std::sort(delays.begin(), delays.end());
    std::cout << "the others' delay: p50 " << delays[delays.size() / 2].count() << " ms, p99 "
              << delays[delays.size() * 99 / 100].count() << " ms, most " << delays.back().count() << " ms\n";
    return delays;
  }

  std::int64_t dead_letters() { return database_.number("select count(*) from lockstep.dead_letter"); }
  std::int64_t epoch() { return database_.number("select epoch from lockstep.checkpoint"); }
  /// Elasticsearch answers 429 to each bulk request that has this text, while is_overloaded_.
  void overload(const std::string& text) {
    is_overloaded_ = true;
    proxy_.disturb([this, text](const HttpMessage& request) -> std::optional<Disturbance> {
      if (!is_overloaded_ || !RecordingProxy::is_bulk(request) ||
          request.body.find(text) == std::string::npos)
        return std::nullopt;
      return Disturbance{
          .status = 429,
          .body = R"({"error":{"type":"es_rejected_execution_exception","reason":"by the test"}})"};
    });
  }
  bool becomes_equal() {
    return wait_until(
        [&] {
          return database_.number(
                     "select (select count(*) from lockstep.job) + (select count(*) from lockstep.due where "
                     "due_at <= now())") == 0 &&
                 pipeline_.difference().empty();
        },
        seconds(90), milliseconds(50));
  }
  bool waits_for_items() {
    return wait_until([&] { return program_->err().find("takes no writes") != std::string::npos; },
                      kPatience);
  }

  std::atomic<bool> is_overloaded_ = false;
  PostgresDatabase database_;
  RecordingProxy proxy_;
  PipelineUnderTest pipeline_;
  std::unique_ptr<Program> program_;
  int changes_ = 0;
};

TEST_F(Neighbours, ABlockedIndexHoldsNoOtherUp) {
  follow();
  set_items("blocks.write", true);
  const auto delays = delays_of_others(20, [&](int i) {
    execute("update items set name = 'blocked " + std::to_string(i) +
            "' where id <= " + std::to_string(1 + i % 12));
  });
  EXPECT_LT(delays[delays.size() / 2], seconds(1));
  EXPECT_TRUE(
      wait_until([&] { return pipeline_.status().at("state") == "waiting_for_elasticsearch"; }, kPatience));
  EXPECT_EQ(dead_letters(), 0);
  EXPECT_TRUE(wait_until([&] { return pipeline_.status().at("lag").at("rows") == 0; }, kPatience))
      << "the checkpoint stands still";
  EXPECT_NE(pipeline_.lockstep("wait", {"--timeout", "1s"}).exit_code, 0);
  set_items("blocks.write", false);
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
  EXPECT_EQ(pipeline_.lockstep("wait", {"--timeout", "30s"}).exit_code, 0);
}

/// The proxy passes no bulk request with writes of an alias on until it ends.
class SlowIndex {
 public:
  SlowIndex(RecordingProxy& proxy, const std::string& alias) {
    proxy.disturb([held = held_, target = "\"" + alias + "\"", over = over_.get_future().share()](
                      const HttpMessage& request) -> std::optional<Disturbance> {
      if (!RecordingProxy::is_bulk(request) || request.body.find(target) == std::string::npos)
        return std::nullopt;
      ++*held;
      over.wait();
      return std::nullopt;
    });
  }
  ~SlowIndex() { end(); }
  SlowIndex(const SlowIndex&) = delete;
  SlowIndex& operator=(const SlowIndex&) = delete;

  /// Requests that have come.
  int held() const { return *held_; }
  void end() {
    if (!std::exchange(ended_, true)) over_.set_value();
  }

 private:
  std::promise<void> over_;
  bool ended_ = false;
  const std::shared_ptr<std::atomic<int>> held_ = std::make_shared<std::atomic<int>>(0);
};

// Three requests of one index took all places, and a fourth had changes of both: the others waited with it.
TEST_F(Neighbours, AnIndexThatElasticsearchIsSlowToWriteHoldsNoOtherUp) {
  follow();
  SlowIndex slow(proxy_, items().alias());
  for (int i = 1; i <= 3; ++i) {
    execute("update items set name = 'slow' where id = " + std::to_string(i));
    ASSERT_TRUE(wait_until([&] { return slow.held() == i; }, kPatience));
  }
  const auto delays = delays_of_others(10, [&](int i) {
    for (int each = 0; each < 5; ++each)
      execute("update items set name = 'change " + std::to_string(i) +
              "' where id = " + std::to_string(1 + 5 * i + each));
  });
  EXPECT_LT(delays[delays.size() / 2], seconds(1));
  EXPECT_LT(delays.back(), seconds(3));
  EXPECT_LE(slow.held(), 5) << "the tail and the jobs have one request each, beside the first three";
  slow.end();
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

TEST_F(Neighbours, ALongBlockBecomesAComparisonOfTheIndex) {
  follow();
  set_items("blocks.write", true);
  execute("update items set name = 'first'");
  ASSERT_TRUE(waits_for_items());
  EXPECT_TRUE(wait_until(
      [&] {
        for (int i = 1; i <= 100; ++i) {
          const std::string id = std::to_string(1 + i % 50);
          execute("update items set name = name || '.' where id = " + id);
        }
        return database_.number("select count(*) from lockstep.set_aside") == 1;
      },
      2 * kPatience));
  EXPECT_TRUE(others_follow());
  set_items("blocks.write", false);
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

TEST_F(Neighbours, ALargeTransactionOfABlockedIndexDoesNotKeepTheOutboxFromBeingPruned) {
  pipeline_.set_more("[replication]\nfan_out_threshold = 100\nchunk_documents = 50\n");
  follow();
  set_items("blocks.write", true);
  execute("update items set name = 'first'");
  ASSERT_TRUE(waits_for_items());
  execute("insert into items select i, 'item ' || i from generate_series(1001, 3000) i");
  EXPECT_TRUE(others_follow());
  const char* const listed = "select count(*) from lockstep.due where documents = 2000";
  EXPECT_TRUE(wait_until([&] { return database_.number(listed) == 1; }, kPatience));
  execute(
      "update lockstep.outbox set slot = (slot + 2) % 3 where slot = extract(epoch from now())::bigint / 600 "
      "% 3");
  EXPECT_TRUE(
      wait_until([&] { return database_.number("select count(*) from lockstep.outbox") < 3; }, 2 * kPatience))
      << "it is not pruned";
  set_items("blocks.write", false);
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

TEST_F(Neighbours, AnIndexThatIsBlockedAtTheStartHoldsNoOtherUp) {
  follow();
  program_->kill();
  set_items("blocks.read_only", true);
  execute("update items set name = 'blocked'");
  restart();
  EXPECT_TRUE(others_follow());
  set_items("blocks.read_only", false);
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

TEST_F(Neighbours, AnAliasOnTwoIndicesIsTheFaultOfNoDocument) {
  follow();
  const std::string second = items().alias() + "-of-somebody-else";
  items().server().expect("PUT", "/" + second, "{\"aliases\": {\"" + items().alias() + "\": {}}}");
  execute("update items set name = 'changed' where id <= 5; delete from items where id = 6");
  ASSERT_TRUE(waits_for_items());
  EXPECT_TRUE(others_follow());
  EXPECT_EQ(dead_letters(), 0);
  items().server().expect("DELETE", "/" + second);
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
  EXPECT_EQ(dead_letters(), 0);
}

TEST_F(Neighbours, ADocumentThatIsNeverTakenHoldsNoOtherUpAndIsTriedAgainAtLeisure) {
  follow();
  overload("GIANT");
  const auto delays = delays_of_others(20, [&](int i) {
    execute("update items set name = 'GIANT " + std::to_string(i) +
            "' where id = " + std::to_string(1 + i % 4));
  });
  EXPECT_LT(delays[delays.size() / 2], seconds(1));
  EXPECT_LT(delays.back(), seconds(2));
  EXPECT_TRUE(wait_until([&] { return dead_letters() == 4; }, 2 * kPatience));
  EXPECT_EQ(database_.value("select min(status) || ' ' || min(error_type) from lockstep.dead_letter"),
            "429 es_rejected_execution_exception");
  is_overloaded_ = false;
  // Changes that are still being tried may be refused once more.
  const auto an_hour_later = [&] {
    execute("update lockstep.dead_letter set last_at = last_at - interval '1 hour'");
  };
  EXPECT_TRUE(wait_until([&] { return an_hour_later(), dead_letters() == 0; }, 2 * kPatience));
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

// As a node with a full write queue does. Its requests took all places, and the others stood still.
TEST_F(Neighbours, AnIndexThatIsTooBusyForAnyWriteHoldsNoOtherUp) {
  follow();
  overload("\"" + items().alias() + "\"");
  const auto delays = delays_of_others(60, [&](int i) {
    for (int each = 0; each < 2; ++each)
      execute("update items set name = 'busy " + std::to_string(i) +
              "' where id = " + std::to_string(1 + (2 * i + each) % 50));
    std::this_thread::sleep_for(milliseconds(100));
  });
  EXPECT_LT(delays[delays.size() / 2], seconds(1));
  EXPECT_LT(delays.back(), seconds(5));
  EXPECT_NE(pipeline_.status().at("reason").get<std::string>().find(items().alias()), std::string::npos);
  EXPECT_EQ(dead_letters(), 0);
  is_overloaded_ = false;
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

// The pipeline was "waiting for Elasticsearch" while everything else flowed, and its jobs piled up.
TEST_F(Neighbours, ADocumentThatIsRefusedAndChangesAgainAndAgainIsDueTwiceAtMost) {
  follow();
  overload("GIANT");
  std::int64_t most_due = 0;
  int waiting = 0;
  for (int i = 0; i < 200; ++i) {
    execute("update items set name = 'GIANT " + std::to_string(i) +
            "' where id = " + std::to_string(1 + i % 3));
    std::this_thread::sleep_for(milliseconds(40));
    most_due = std::max(most_due, database_.number("select coalesce(sum(documents), 0) from lockstep.due"));
    if (i % 10 == 9 && pipeline_.status().at("state") == "waiting_for_elasticsearch") ++waiting;
  }
  EXPECT_LE(most_due, 6) << "twice for each document";
  EXPECT_LE(waiting, 2);
  execute("insert into others select i, 'more' from generate_series(1000, 9000) i");
  EXPECT_TRUE(wait_until([&] { return pipeline_.index("others").count() > 8'000; }, kPatience))
      << "another job stands still";
  is_overloaded_ = false;
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

TEST_F(Neighbours, ARowThatFailsStartsNoNewLeadership) {
  follow();
  const std::int64_t epoch_before = epoch();
  const auto times_aside = [&] {
    const std::string log = program_->err();
    int times = 0;
    for (std::size_t at = 0; (at = log.find("is paused", at)) != std::string::npos; ++at) ++times;
    return times;
  };
  // The last row: whether the index may be taken back is asked of its first.
  execute("update items set n = 0 where id = (select max(id) from items)");
  ASSERT_TRUE(wait_until([&] { return times_aside() == 1; }, kPatience));
  const auto delays = delays_of_others(10, [](int) {});
  EXPECT_LT(delays.back(), seconds(2));
  EXPECT_TRUE(wait_until([&] { return times_aside() == 2; }, kPatience)) << "it is never tried again";
  EXPECT_EQ(epoch(), epoch_before);
  execute("update items set n = 2 where n = 0");
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
  EXPECT_EQ(epoch(), epoch_before);
}

// Each was taken for trouble of the server: a new leadership read the row again, for ever.
TEST_F(Neighbours, ARowThatMeetsWhatMayBeOverLaterStartsNoNewLeadership) {
  follow();
  const std::int64_t epoch_before = epoch();
  for (const std::string state : {"08006", "40001", "53400", "58030"}) {
    execute(
        "create or replace function fail(n integer) returns integer stable language plpgsql as $$begin "
        "if n = -1 then raise sqlstate '" +
        state +
        "' using message = 'by the test'; end if; return n; end$$; "
        "create or replace view items_view as select id as _id, name, 100 / fail(n) as share from items; "
        "update items set n = -1 where id = 37");
    EXPECT_TRUE(others_follow()) << state;
    const auto is_said = [&] {
      return pipeline_.lockstep("status").out.find("by the test") != std::string::npos;
    };
    EXPECT_TRUE(wait_until(is_said, kPatience)) << state << pipeline_.lockstep("status").out;
    execute("update items set n = 2 where n = -1");
    EXPECT_TRUE(becomes_equal()) << state << pipeline_.difference();
  }
  EXPECT_EQ(epoch(), epoch_before);
}

// What was below every limit of documents and bytes kept all small changes waiting for seconds.
TEST_F(Neighbours, AMediumChangeThatElasticsearchIsSlowToWriteStepsAside) {
  follow();
  proxy_.disturb([](const HttpMessage& request) -> std::optional<Disturbance> {
    if (!RecordingProxy::is_bulk(request) || request.body.size() < 200'000) return std::nullopt;
    return Disturbance{.delay = milliseconds(700)};
  });
  execute(
      "create table public.told (reason text); create function tell() returns trigger language plpgsql as "
      "$$begin insert into public.told values (new.reason); return null; end$$; "
      "create trigger tell after insert on lockstep.due for each row execute function tell()");
  for (int i = 0; i < 2; ++i) {  // how fast Elasticsearch is shows with the first one
    execute("update items set name = '" + std::to_string(i) + "' || repeat('x', 400000) where id <= 30");
    EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
  }
  EXPECT_GT(database_.number("select count(*) from told where reason like 'not many documents%'"), 0);
}

TEST_F(Neighbours, TheRowThatMakesAViewFailIsNamed) {
  follow();
  execute("update items set n = 0 where id = 37");
  const auto why = [&] {
    return pipeline_.status().at("indices").at(items().alias()).at("set_aside").dump();
  };
  const std::string named = R"(in the row whose _id is \"37\")";
  EXPECT_TRUE(wait_until([&] { return why().find(named) != std::string::npos; }, kPatience)) << why();
  const Completed verify = pipeline_.lockstep("verify", {items().alias()});
  EXPECT_NE(verify.exit_code, 0);
  EXPECT_NE(verify.err.find(R"(in the row whose _id is "37")"), std::string::npos) << verify.err;
}

TEST_F(Neighbours, NoRowIsNamedWhereNoneIsToBlame) {
  follow();
  execute(
      "create function refuse() returns text stable language plpgsql as $$begin raise 'never'; end$$; "
      "create or replace view items_view as select id as _id, name, 100 / n as share from items "
      "where refuse() is not null; update items set n = 3 where id = 37");
  const auto why = [&] {
    return pipeline_.status().at("indices").at(items().alias()).at("set_aside").dump();
  };
  EXPECT_TRUE(wait_until([&] { return why().find("never") != std::string::npos; }, kPatience)) << why();
  EXPECT_EQ(why().find("whose _id is"), std::string::npos) << why();
}

TEST_F(Neighbours, AnIndexWhoseMarkSomebodyOverwroteHoldsNoOtherUp) {
  follow();
  program_->kill();
  const std::string index = "/" + items().concrete().at(0);
  const auto put_meta = [&](const std::string& meta) {
    items().server().expect("PUT", index + "/_mapping", R"({"_meta": )" + meta + "}");
  };
  const nlohmann::json before = items().server().expect("GET", index + "/_mapping").begin()->at("mappings");
  put_meta(R"({"owner": "the search team"})");
  execute("update items set name = 'meanwhile' where id = 1");
  restart();
  EXPECT_TRUE(others_follow());
  const nlohmann::json status = pipeline_.status();
  const std::string why = status.at("indices").at(items().alias()).at("set_aside");
  EXPECT_NE(why.find("if this index is to be followed, run `lockstep adopt " + items().alias() + "`"),
            std::string::npos)
      << why;
  EXPECT_NE(program_->err().find("is paused, the others continue: reading the mark"), std::string::npos);
  put_meta(before.at("_meta").dump());
  restart();
  EXPECT_EQ(pipeline_.difference_within(kPatience), "");
}

TEST_F(Neighbours, ATruncateWhileAnIndexIsBlockedLeavesNoDocumentBehind) {
  follow();
  set_items("blocks.read_only_allow_delete", true);
  execute("insert into items values (100, 'late')");
  ASSERT_TRUE(waits_for_items());
  execute("truncate items");
  ASSERT_TRUE(others_follow());
  set_items("blocks.read_only_allow_delete", false);
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

TEST_F(Neighbours, ATruncateBehindASlowBulkLeavesNoDocumentBehind) {
  follow();
  proxy_.hold_bulks();
  execute("insert into items values (100, 'late')");
  ASSERT_TRUE(wait_until([&] { return proxy_.held() == 1; }, kPatience));
  execute("truncate items");
  ASSERT_TRUE(wait_until(
      [&] { return database_.number("select count(*) from lockstep.job where kind = 'sweep'") == 1; },
      kPatience));
  // A sweep that does not wait is over by then.
  EXPECT_FALSE(wait_until(
      [&] { return database_.number("select count(*) from lockstep.job where kind = 'sweep'") == 0; },
      seconds(3)));
  proxy_.release_bulks();
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

TEST_F(Neighbours, AWriteOfADeadLeaderThatLandsBehindASweepIsSweptToo) {
  pipeline_.set_more("request_timeout = '2s'\n");
  follow();
  proxy_.hold_bulks();
  execute("insert into items values (100, 'late')");
  ASSERT_TRUE(wait_until([&] { return proxy_.held() == 1; }, kPatience));
  program_->kill();
  execute("truncate items; delete from lockstep.outbox where keys is not null");
  program_ = pipeline_.start();
  ASSERT_TRUE(wait_until(
      [&] { return database_.number("select count(*) from lockstep.job where position is not null") > 0; },
      kPatience));
  proxy_.release_bulks();
  EXPECT_TRUE(becomes_equal()) << pipeline_.difference();
}

}  // namespace
}  // namespace lockstep::support
