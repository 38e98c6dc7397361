#include "replicator/locks/backends/elasticsearch/lock_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "replicator/elasticsearch/bulk/bulk_request.h"
#include "replicator/error.h"
#include "replicator/locks/backends/elasticsearch/lock_scripts.h"
#include "replicator/locks/backends/elasticsearch/locks.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST(LockJsonTest, AnIdIsTheNameAsFarAsElasticsearchTakesIt) {
  EXPECT_EQ(document_id(LockName("/clinton")), "/clinton");
  EXPECT_EQ(document_id(LockName(std::string(512, 'x'))), std::string(512, 'x'));
  const std::string longer(513, 'x');
  EXPECT_EQ(document_id(LockName(longer)).size(), kMaxIdBytes);
  EXPECT_NE(document_id(LockName(longer + "1")), document_id(LockName(longer + "2")));
  std::string umlauts;
  while (umlauts.size() < 600) umlauts += "ä";
  for (const char* head : {"", "a"}) {
    const std::string id = document_id(LockName(head + umlauts));
    EXPECT_LE(id.size(), kMaxIdBytes);
    EXPECT_NO_THROW((void)json(id).dump()) << "cut between characters";
  }
}

TEST(LockJsonTest, LocksInTheBooksFormatAreRead) {
  const auto lock = [](const char* source) { return read_lock("id", json::parse(source)); };
  for (const char* source : {"{}", R"({"lock_type": null, "holders": null, "want": null})"}) {
    EXPECT_EQ(lock(source)->mode, LockMode::kExclusive) << source;
    EXPECT_EQ(lock(source)->count, 1) << source;
  }
  EXPECT_EQ(lock(R"({"process_id": 123})")->holders.at(0).id, "123");
  EXPECT_EQ(lock(R"({"process_id": "web1"})")->holders.at(0), (LockHolder{"web1", std::nullopt}));
  EXPECT_EQ(lock(R"({"lock_type": "shared", "lock_count": 2})")->count, 2);
  EXPECT_FALSE(lock(R"({"lock_type": "shared", "lock_count": 0})")) << "those who wait left it";
  EXPECT_FALSE(lock(R"({"lock_type": "shared", "lock_count": -5})")) << "as the scripts count it";
  EXPECT_FALSE(lock(R"({"lock_type": "shared"})")) << "as the scripts count it";
}

std::string error_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    return error.what();
  }
  return "no error";
}

TEST(LockJsonTest, AnUnknownWordIsAnErrorThatNamesItAndItsDocument) {
  const auto operation = [](const char* source) {
    return error_of([&] { (void)read_operation("web1-7-ab", json::parse(source), {}); });
  };
  EXPECT_THAT(operation(R"({"kind": "mv", "locks": {}, "state": "paused"})"),
              AllOf(HasSubstr("web1-7-ab"), HasSubstr("\"paused\""), HasSubstr("newer lockstep")));
  EXPECT_THAT(operation(R"({"kind": "mv", "locks": {}})"),
              AllOf(HasSubstr("web1-7-ab"), HasSubstr("no state")));
  EXPECT_THAT(operation(R"({"kind": "mv", "locks": {}, "state": 7})"),
              HasSubstr("its state is 7, not a text"));
  EXPECT_THAT(operation(R"({"state": "done"})"), AllOf(HasSubstr("web1-7-ab"), HasSubstr("no kind")));
  EXPECT_THAT(operation(R"({"kind": "mv", "state": "done", "locks": {"update": ["/a"]}})"),
              AllOf(HasSubstr("web1-7-ab"), HasSubstr("\"update\"")));

  const auto lock = [](const char* source) {
    return error_of([&] { (void)read_lock("/clinton", json::parse(source)); });
  };
  EXPECT_THAT(lock(R"({"lock_type": "upgradable"})"),
              AllOf(HasSubstr("/clinton"), HasSubstr("\"upgradable\""), HasSubstr("newer lockstep")));
  EXPECT_THAT(lock(R"({"lock_type": 7})"),
              AllOf(HasSubstr("/clinton"), HasSubstr("its lock_type is 7, not a text")));
  EXPECT_THAT(lock(R"({"lock_type": "shared", "holders": {"web1": {"until": 1, "mode": "update"}}})"),
              AllOf(HasSubstr("/clinton"), HasSubstr("holders.web1.mode is \"update\"")));
}

TEST(LockJsonTest, ALockWhoseCountOrLeaseCannotBeReadIsNotFree) {
  const auto lock = [](const char* source) {
    return error_of([&] { (void)read_lock("/clinton", json::parse(source)); });
  };
  EXPECT_THAT(lock(R"({"lock_type": "shared", "lock_count": "many"})"),
              AllOf(HasSubstr("the lock /clinton: its lock_count is \"many\", not a whole number"),
                    HasSubstr("written by something else, or by a newer lockstep")));
  EXPECT_THAT(lock(R"({"lock_type": "shared", "lock_count": 1.5})"), HasSubstr("its lock_count is 1.5"));
  EXPECT_THAT(lock(R"({"holders": []})"), HasSubstr("its holders is [], not an object"));
  EXPECT_THAT(lock(R"({"holders": {"a": 1}})"), HasSubstr("its holders.a is 1, not an object"));
  EXPECT_THAT(lock(R"({"holders": {"a": {"until": "soon"}}})"), HasSubstr("its holders.a.until is \"soon\""));
  EXPECT_THAT(lock(R"({"holders": {"a": {"calls": 1}}})"), HasSubstr("it has no holders.a.until"));
  EXPECT_THAT(lock(R"({"want": 3})"), HasSubstr("its want is 3"));
  EXPECT_THAT(lock(R"({"want": {"holder": "a", "until": [1]}})"), HasSubstr("its want.until is [1]"));
  EXPECT_THAT(lock(R"({"queue": 3})"), HasSubstr("its queue is 3"));
  EXPECT_THAT(lock(R"({"queue": [{"until": 1}]})"), HasSubstr("it has no queue.holder"));
  EXPECT_THAT(lock(R"({"name": ["/clinton"]})"), HasSubstr("its name is [\"/clinton\"]"));
}

TEST(LockJsonTest, ThoseWhoWaitAreReadInTheirOrder) {
  const json source =
      json::parse(R"({"lock_type": "shared", "lock_count": 1, "want": {"holder": "a", "until": 1},
    "queue": [{"holder": "b", "mode": "shared", "until": 3}, {"holder": "c", "mode": "exclusive", "until": 2}]})");
  std::vector<std::string> ids;
  const std::optional<LockState> lock = read_lock("/", source);
  ASSERT_TRUE(lock);
  for (const LockHolder& each : lock->waiting) ids.push_back(each.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"a", "b", "c"})) << "a mark of an older lockstep first";
}

TEST(LockJsonTest, ANumberThatIsStoredAsTextIsThatNumber) {
  const auto lock = read_lock("/", json::parse(R"({"lock_type": "shared", "lock_count": "3"})"));
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->count, 3);
}

json whole_entry() {
  return json::parse(
      R"({"kind": "mv", "from": "/a", "to": "/b", "target": "fs", "state": "running", "owner": "me",
      "locks": {"shared": ["/"], "exclusive": ["/a", "/b"]}, "epoch": 2, "lease_until": 7000, "token": 12,
      "task": "n:1", "progress": 5, "reason": "r"})");
}

TEST(LockJsonTest, AnEntryOfAnotherLanguageNeedsNoMoreThanTheProtocolSays) {
  json entry = whole_entry();
  for (const char* field : {"from", "to", "target", "token", "task", "progress", "reason"})
    entry.erase(field);
  entry["locks"].erase("shared");
  const Operation operation = read_operation("me", entry, {9, 1});
  EXPECT_EQ(operation.commit, 9) << "the number of the commit's own write";
  EXPECT_EQ(operation.locks, lock_set({{LockName("/a")}, {LockName("/b")}}));
  EXPECT_EQ(operation.lease_until, ServerTime(std::chrono::seconds(7)));
}

TEST(LockJsonTest, AFieldOfAnEntryThatCannotBeReadIsNeverADefault) {
  const auto with = [](const char* field, const char* value) {
    json entry = whole_entry();
    entry[field] = json::parse(value);
    return error_of([&] { (void)read_operation("web1-7-ab", entry, {9, 1}); });
  };
  EXPECT_EQ(with("epoch", "2"), "no error");
  EXPECT_THAT(with("lease_until", R"("2026-01-31")"),
              AllOf(HasSubstr("the operation web1-7-ab: its lease_until is \"2026-01-31\""),
                    HasSubstr("written by something else, or by a newer lockstep")));
  EXPECT_THAT(with("lease_until", "null"), HasSubstr("it has no lease_until"));
  EXPECT_THAT(with("lease_until", "18446744073709551615"),
              HasSubstr("its lease_until is 18446744073709551615"));
  for (const char* field : {"epoch", "token", "progress"}) {
    EXPECT_THAT(with(field, R"("two")"), HasSubstr("its " + std::string(field) + " is \"two\""));
  }
  for (const char* field : {"kind", "from", "to", "target", "state", "owner", "task", "reason"}) {
    EXPECT_THAT(with(field, "[7]"), HasSubstr("its " + std::string(field) + " is [7], not a text"));
  }
  EXPECT_THAT(with("locks", "7"), HasSubstr("its locks is 7"));
  EXPECT_THAT(with("locks", R"({"shared": "/a"})"), HasSubstr("its locks.shared is \"/a\", not a list"));
}

TEST(LockJsonTest, ALockNameThatIsNoTextIsNotLeftOutOfTheRelease) {
  for (const char* name : {"1", "null", R"("")"}) {
    json entry = whole_entry();
    entry["locks"]["exclusive"] = {"/a", json::parse(name)};
    EXPECT_THAT(error_of([&] { (void)read_operation("web1-7-ab", entry, {}); }),
                AllOf(HasSubstr("the operation web1-7-ab"), HasSubstr("its locks.exclusive is "),
                      HasSubstr("not the name of a lock")))
        << name;
  }
}

TEST(LockJsonTest, TheJournalIsNamedAfterTheLocks) {
  EXPECT_EQ(lock_indices("lockstep-locks").journal, "lockstep-journal");
  EXPECT_EQ(lock_indices("shop").journal, "shop-journal");
  EXPECT_EQ(lock_indices("-locks").journal, "-locks-journal");
}

// A changed script needs another version: other programs still call the old one.
TEST(LockScriptsTest, StoredScriptsAreFrozen) {
  const auto fnv = [](std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
  };
  std::vector<std::string> frozen;
  for (const LockScript& script : lock_scripts()) {
    char line[80];
    std::snprintf(line, sizeof line, "%s %016llx", script.id.c_str(),
                  static_cast<unsigned long long>(fnv(script.source)));
    frozen.emplace_back(line);
  }
  EXPECT_EQ(frozen,
            (std::vector<std::string>{
                "lockstep-acquire-v3 f23cbb045882aa87", "lockstep-downgrade-v2 a8778269170f82d8",
                "lockstep-journal-open-v1 676bb9b9f4641901", "lockstep-journal-seize-v1 8e7ec833b1d0e1e1",
                "lockstep-journal-step-v1 8f14fd1b9dc3cbe9", "lockstep-journal-token-v2 26b7df4b79a2c6db",
                "lockstep-release-v3 775403c05b0a9af7", "lockstep-renew-v1 1f75b61c36075765",
                "lockstep-tree-change-v2 011af4470897c2a7"}));
}

}  // namespace
}  // namespace lockstep
