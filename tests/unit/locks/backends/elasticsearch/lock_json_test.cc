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

TEST(LockJsonTest, DocumentsOfAnyContentAreReadWithoutHarm) {
  for (const char* source :
       {"{}", R"({"lock_type": null})", R"({"lock_type": "shared", "lock_count": "many"})",
        R"({"holders": []})", R"({"holders": {"a": 1, "b": {"until": "soon"}}})", R"({"want": 3})",
        R"({"lock_type": "shared", "lock_count": -5})", R"({"process_id": {"a": [1]}})"}) {
    EXPECT_NO_THROW((void)read_lock("id", json::parse(source))) << source;
  }
  for (const char* source :
       {"{}", R"({"locks": 7, "epoch": "two"})", R"({"locks": {"shared": [1, ""]}, "lease_until": null})"}) {
    json entry = json::parse(source);
    entry["kind"] = "mv";
    entry["state"] = "done";
    EXPECT_NO_THROW((void)read_operation("id", entry, {})) << source;
  }
  EXPECT_FALSE(read_lock("id", json::parse(R"({"lock_type": "shared", "lock_count": 0})")))
      << "a mark's rest";
  EXPECT_EQ(read_lock("id", json::parse("{}"))->mode, LockMode::kExclusive);
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
  EXPECT_THAT(operation(R"({"kind": "mv", "state": "paused"})"),
              AllOf(HasSubstr("web1-7-ab"), HasSubstr("\"paused\""), HasSubstr("newer lockstep")));
  EXPECT_THAT(operation(R"({"kind": "mv"})"), AllOf(HasSubstr("web1-7-ab"), HasSubstr("no state")));
  EXPECT_THAT(operation(R"({"kind": "mv", "state": 7})"), HasSubstr("no state"));
  EXPECT_THAT(operation(R"({"state": "done"})"), AllOf(HasSubstr("web1-7-ab"), HasSubstr("no kind")));

  const auto lock = [](const char* source) {
    return error_of([&] { (void)read_lock("/clinton", json::parse(source)); });
  };
  EXPECT_THAT(lock(R"({"lock_type": "upgradable"})"),
              AllOf(HasSubstr("/clinton"), HasSubstr("\"upgradable\""), HasSubstr("newer lockstep")));
  EXPECT_THAT(lock(R"({"lock_type": 7})"), AllOf(HasSubstr("/clinton"), HasSubstr("\"7\"")));
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
                "lockstep-acquire-v1 0faf7604a209bc26", "lockstep-downgrade-v1 c31d533886c5d1e0",
                "lockstep-journal-open-v1 676bb9b9f4641901", "lockstep-journal-seize-v1 8e7ec833b1d0e1e1",
                "lockstep-journal-step-v1 8f14fd1b9dc3cbe9", "lockstep-release-v1 d01d09c2b97bf74b",
                "lockstep-renew-v1 1f75b61c36075765", "lockstep-tree-move-v1 617d5b7fc9d807c5"}));
}

}  // namespace
}  // namespace lockstep
