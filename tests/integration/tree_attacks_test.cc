// Owners that die or sleep after the commit, seen from the data. Each zombie attacks twice where that shows
// something: through the program's own writes, which hold (F1 and F2 of tree_writes.h), and as a client would
// that leaves out the one check, which shows that the attack is real.
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/locks/backends/elasticsearch/locks.h"
#include "replicator/tree/tree_change.h"
#include "replicator/tree/tree_writes.h"
#include "tests/integration/tree_fixture.h"
#include "tests/support/recording_proxy.h"

namespace lockstep {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using Locking = TreeConfig::Locking;

/// Holds up a client at a request, with everything that it sends afterwards, as SIGSTOP does.
class Freezer {
 public:
  explicit Freezer(support::RecordingProxy& proxy) : proxy_(proxy) {}
  ~Freezer() {
    thaw();
    proxy_.disturb({});
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;

  /// Freezes at the first request whose target has `part`.
  void freeze_at(const std::string& part) {
    proxy_.disturb([part, state = state_](const support::HttpMessage& request) {
      std::unique_lock lock(state->mutex);
      if (request.target().find(part) != std::string::npos) state->frozen = true;
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return !state->frozen || state->thawed; });
      return std::optional<support::Disturbance>();
    });
  }
  void wait_until_frozen() {
    std::unique_lock lock(state_->mutex);
    ASSERT_TRUE(state_->changed.wait_for(lock, std::chrono::seconds(60), [this] { return state_->frozen; }));
  }
  void thaw() {
    const std::lock_guard lock(state_->mutex);
    state_->thawed = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool frozen = false;
    bool thawed = false;
  };

  support::RecordingProxy& proxy_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

class TreeAttacks : public TreeTest {
 protected:
  static constexpr std::chrono::seconds kShort{5};  ///< dies as soon as it does not renew

  TreeAttacks() {
    // With a long lease there is time to create indices.
    (void)open(Locking::kTree, kLong);
    other_ = open(Locking::kTree, kShort);
    write("1", "/a", "f");
    write("2", "/a", "g");
    write("3", "/a/s", "h");
    write("4", "/c", "k");
  }

  /// An operation that has committed, and written nothing yet.
  Operation committed(TreeClient& client, const OperationIntent& intent) const {
    LockSet locks = intent.to.empty() ? tree_locks({intent.from}) : tree_locks({intent.from, intent.to});
    OperationIntent with_target = intent;
    with_target.target = tree_index();
    Operation operation = client.locks->open(with_target, std::move(locks));
    EXPECT_EQ(client.locks->try_acquire(operation, milliseconds(0)), std::nullopt);
    client.locks->commit(operation);
    return operation;
  }
  Operation committed_move(TreeClient& client) const {
    return committed(client, {.kind = "mv", .from = "/a", .to = "/b"});
  }

  /// The fence of every document, as from elsewhere.
  void set_fence(const json& fence) const {
    const json script = {{"source", "ctx._source.fence = params.fence"}, {"params", {{"fence", fence}}}};
    server().expect("POST", "/" + tree_index() + "/_refresh");
    server().expect("POST", "/" + tree_index() + "/_update_by_query?refresh=true",
                    json{{"script", script}}.dump());
  }

  /// Waits until it is dead, then recovers as `lockstep tree recover` does.
  void bury(const Operation& dead) {
    wait_for_death_of(*other_, dead.id);
    EXPECT_EQ(other_->tree->recover().rolled_forward, 1);
    EXPECT_EQ(other_->locks->find_operation(dead.id).value().state, OperationState::kDone);
    expect_nothing_left(*other_);
  }

  /// What the program does for an owner that wakes up and searches again. False when it was deposed.
  bool goes_on(TreeClient& client, Operation& operation) const {
    ElasticsearchClient elasticsearch(make_transport_factory(client.config.elasticsearch)());
    TreeDocuments documents(elasticsearch, tree_index());
    TreeRollForward zombie(elasticsearch, documents, Painless::kHere);
    try {
      zombie.roll_forward(*client.locks, operation);
      return true;
    } catch (const LeaseLost&) {
      return false;
    }
  }

  /// Writes under no condition but the version; returns the status.
  int write_unfenced(const std::string& id, const Stored& as_read, const json& fields) const {
    return server()
        .request("POST",
                 "/" + tree_index() + "/_update/" + id +
                     "?if_seq_no=" + std::to_string(as_read.sequence_number) +
                     "&if_primary_term=" + std::to_string(as_read.primary_term),
                 json{{"doc", fields}}.dump())
        .status;
  }

  std::unique_ptr<TreeClient> other_;
};

TEST_F(TreeAttacks, WhoDiesInTheMiddleOfTheDataIsRolledForward) {
  const auto mortal = open(Locking::kTree, kShort);
  const Operation dead = committed_move(*mortal);
  const auto before = stored();
  EXPECT_EQ(write_unfenced("2", before.at("2"), {{"path", "/b"}, {"fence", dead.token}}), 200);
  EXPECT_THAT(paths(), ElementsAre("/a/f", "/a/s/h", "/b/g", "/c/k"));
  bury(dead);
  EXPECT_THAT(paths(), ElementsAre("/b/f", "/b/g", "/b/s/h", "/c/k"));
}

TEST_F(TreeAttacks, WhoMeetsTheLocksOfTheDeadFinishesItsWorkFirst) {
  const auto mortal = open(Locking::kTree, kShort);
  const Operation dead = committed_move(*mortal);
  wait_for_death_of(*other_, dead.id);
  EXPECT_EQ(other_->tree->move(TreePath("/b/f"), TreePath("/b/f2"), {}), std::nullopt);
  EXPECT_THAT(paths(), ElementsAre("/b/f2", "/b/g", "/b/s/h", "/c/k"));
  expect_nothing_left(*other_);
}

TEST_F(TreeAttacks, AZombieThatHasReadBeforeItSleptWritesNothing) {
  support::RecordingProxy proxy;
  const auto zombie = open(Locking::kTree, kShort, proxy.url());
  std::string failure;
  std::jthread sleeper;  // ends only when thawed
  Freezer freezer(proxy);
  freezer.freeze_at("/" + tree_index() + "/_bulk");
  sleeper = std::jthread([&] {
    try {
      (void)zombie->tree->move(TreePath("/a"), TreePath("/b"), {});
    } catch (const Error& error) {
      failure = error.what();
    }
  });
  freezer.wait_until_frozen();
  const std::vector<Operation> running = other_->locks->unresolved();
  ASSERT_EQ(running.size(), 1u);
  EXPECT_EQ(running[0].state, OperationState::kRunning);
  bury(running[0]);
  EXPECT_EQ(other_->tree->move(TreePath("/b"), TreePath("/d"), {}), std::nullopt);
  const auto before = stored();
  freezer.thaw();
  sleeper.join();
  EXPECT_THAT(failure, HasSubstr("the process that took it over finishes it"));
  const auto after = stored();
  for (const auto& [id, document] : before) EXPECT_EQ(after.at(id).sequence_number, document.sequence_number);
  EXPECT_THAT(paths(), ElementsAre("/c/k", "/d/f", "/d/g", "/d/s/h"));
  expect_nothing_left(*other_);
}

/// Everything is back where it was, so that a new search shows the zombie what it looks for.
class TreeAbaAttack : public TreeAttacks {
 protected:
  TreeAbaAttack() : zombie_(open(Locking::kTree, kShort)), operation_(committed_move(*zombie_)) {
    bury(operation_);
    EXPECT_EQ(other_->tree->move(TreePath("/b"), TreePath("/a"), {}), std::nullopt);
    EXPECT_THAT(paths(), ElementsAre("/a/f", "/a/g", "/a/s/h", "/c/k"));
  }

  void expect_no_effect_of_a_late_task() const {
    for (const char* kind : {"mv", "rm"}) {
      Operation operation = operation_;
      operation.intent.kind = kind;
      const json task = TreeChange(tree_intent(operation)).task(operation_.token);
      const json reply =
          server().expect("POST", "/" + tree_index() + "/_update_by_query?conflicts=proceed", task.dump());
      EXPECT_EQ(reply.value("updated", 0) + reply.value("deleted", 0), 0) << reply;
    }
    EXPECT_THAT(paths(), ElementsAre("/a/f", "/a/g", "/a/s/h", "/c/k"));
  }

  std::unique_ptr<TreeClient> zombie_;
  Operation operation_;
};

TEST_F(TreeAbaAttack, AZombieWithFreshReadsMeetsAGreaterFence) {
  const auto before = stored();
  EXPECT_FALSE(goes_on(*zombie_, operation_));
  const auto after = stored();
  for (const auto& [id, document] : before) EXPECT_EQ(after.at(id).sequence_number, document.sequence_number);
}

TEST_F(TreeAbaAttack, AZombieAsksTheJournalBeforeItReplacesAFenceThatIsTooGreat) {
  set_fence(kMostExceeded + 1);
  EXPECT_FALSE(goes_on(*zombie_, operation_));
  EXPECT_THAT(paths(), ElementsAre("/a/f", "/a/g", "/a/s/h", "/c/k"));
}

/// Whoever has drawn the same token from a journal that was new.
TEST_F(TreeAbaAttack, AZombieWhoseTokenSomebodyElseHasTooWritesNothing) {
  set_fence(operation_.token);
  const auto before = stored();
  EXPECT_FALSE(goes_on(*zombie_, operation_));
  const auto after = stored();
  for (const auto& [id, document] : before) EXPECT_EQ(after.at(id).sequence_number, document.sequence_number);
  expect_no_effect_of_a_late_task();
}

TEST_F(TreeAttacks, WhoMeetsItsOwnTokenFromSomebodyElseDrawsAnotherOne) {
  const auto client = open(Locking::kTree, kLong);
  Operation operation = committed_move(*client);
  const FencingToken twice = operation.token;
  set_fence(twice);
  EXPECT_TRUE(goes_on(*client, operation));
  EXPECT_THAT(paths(), ElementsAre("/b/f", "/b/g", "/b/s/h", "/c/k"));
  EXPECT_GT(stored().at("1").source.at("fence").get<std::int64_t>(), twice);
}

TEST_F(TreeAbaAttack, ATaskOfADeadOwnerThatStartsLateChangesNothing) {
  expect_no_effect_of_a_late_task();
}
TEST_F(TreeAbaAttack, WithoutTheFenceTheWriteOfAZombieLands) {
  const Stored fresh = stored().at("1");
  ASSERT_GT(fresh.source.at("fence"), operation_.token);
  EXPECT_EQ(write_unfenced("1", fresh, {{"path", "/b"}, {"fence", operation_.token}}), 200);
  EXPECT_THAT(paths(), ElementsAre("/a/g", "/a/s/h", "/b/f", "/c/k"))
      << "half of a move that was over long ago";
}

TEST_F(TreeAttacks, RollingForwardStampsEveryDocumentSoThatALateWriteFindsAnotherOne) {
  const auto mortal = open(Locking::kTree, kShort);
  const Operation dead = committed_move(*mortal);
  const auto as_read = stored();
  bury(dead);
  for (const char* id : {"1", "2", "3"})
    EXPECT_EQ(write_unfenced(id, as_read.at(id), {{"path", "/b"}, {"fence", dead.token}}), 409) << id;
  EXPECT_THAT(paths(), ElementsAre("/b/f", "/b/g", "/b/s/h", "/c/k"));
}

TEST_F(TreeAttacks, AnUndoThatLeavesDocumentsUntouchedLetsALateWriteLand) {
  const auto mortal = open(Locking::kTree, kShort);
  const Operation dead = committed_move(*mortal);
  const auto as_read = stored();
  EXPECT_EQ(write_unfenced("2", as_read.at("2"), {{"path", "/b"}, {"fence", dead.token}}), 200);
  // The undo: what was moved goes back, the rest is in its place.
  EXPECT_EQ(write_unfenced("2", stored().at("2"), {{"path", "/a"}, {"fence", dead.token + 1}}), 200);
  EXPECT_EQ(write_unfenced("1", as_read.at("1"), {{"path", "/b"}, {"fence", dead.token}}), 200);
  EXPECT_THAT(paths(), ElementsAre("/a/g", "/a/s/h", "/b/f", "/c/k")) << "half of a move that was undone";
}

TEST_F(TreeAttacks, ARemovalIsRolledForwardTooAndItsZombieRemovesNothingNew) {
  const auto mortal = open(Locking::kTree, kShort);
  Operation dead = committed(*mortal, {.kind = "rm", .from = "/a"});
  bury(dead);
  EXPECT_THAT(paths(), ElementsAre("/c/k"));
  EXPECT_EQ(other_->tree->put(TreePath("/a/f"), "new", {}), std::nullopt);
  EXPECT_FALSE(goes_on(*mortal, dead));
  EXPECT_THAT(paths(), ElementsAre("/a/f", "/c/k"));
}

/// Puts that die after their commit, with their contents staged.
class TreePutAttacks : public TreeAttacks {
 protected:
  /// Starts a put that falls asleep at its first data write, and recovers it.
  void fall_asleep(const std::string& path) {
    freezer_.freeze_at("/" + tree_index() + "/_bulk");
    sleeper_ = std::jthread([this, path] {
      try {
        (void)zombie_->tree->put(TreePath(path), "staged", {});
      } catch (const Error& error) {
        failure_ = error.what();
      }
    });
    freezer_.wait_until_frozen();
    const std::vector<Operation> running = other_->locks->unresolved();
    ASSERT_EQ(running.size(), 1u);
    bury(running[0]);
  }
  void wake_up() {
    freezer_.thaw();
    sleeper_.join();
    EXPECT_NE(failure_, "");
  }

  support::RecordingProxy proxy_;
  std::unique_ptr<TreeClient> zombie_ = open(Locking::kTree, kShort, proxy_.url());
  std::string failure_;
  std::jthread sleeper_;  // ends only when thawed
  Freezer freezer_{proxy_};
};

TEST_F(TreePutAttacks, ANewFileIsMadeByWhoeverComesNextAndCannotComeBackAfterItsRemoval) {
  fall_asleep("/n/new");
  EXPECT_EQ(paths().count("/n/new"), 1u);
  EXPECT_EQ(other_->tree->remove(TreePath("/n/new"), {}), std::nullopt);
  wake_up();
  EXPECT_THAT(paths(), ElementsAre("/a/f", "/a/g", "/a/s/h", "/c/k"));
}

TEST_F(TreePutAttacks, ContentsAreReplacedByWhoeverComesNextAndNotAgain) {
  fall_asleep("/a/f");
  EXPECT_EQ(stored().at("1").source.at("contents"), "staged");
  EXPECT_EQ(other_->tree->put(TreePath("/a/f"), "newer", {}), std::nullopt);
  wake_up();
  EXPECT_EQ(stored().at("1").source.at("contents"), "newer");
  EXPECT_EQ(stored().size(), 4u);
}

TEST_F(TreeAttacks, ContentsOfAPutThatNeverCommittedAreSwept) {
  const auto mortal = open(Locking::kTree, kShort);
  const Operation dead =
      mortal->locks->open({.kind = "put", .from = "/a/x", .target = tree_index()}, tree_locks({"/a/x"}));
  server().expect("PUT", "/" + tree_index() + "/_doc/" + dead.id,
                  R"({"kind": ")" + std::string(kStagedKind) + dead.id + R"(", "contents": "never"})");
  other_->tree->recover();
  EXPECT_EQ(stored().count(dead.id), 1u) << "its operation may still commit";
  wait_for_death_of(*other_, dead.id);
  EXPECT_EQ(other_->tree->recover().aborted, 1);
  expect_nothing_left(*other_);
  EXPECT_EQ(stored().size(), 4u);
}

// Reported: `tree recover` deleted a user's document of the kind "staged".
TEST_F(TreeAttacks, AUsersDocumentOfTheKindStagedIsTheUsers) {
  server().expect("PUT", "/" + tree_index() + "/_doc/mine", R"({"kind": "staged", "contents": "a draft"})");
  write("4", "/c", "k", {{"kind", "staged"}});
  other_->tree->recover();
  EXPECT_EQ(stored().at("mine").source.at("contents"), "a draft");
  EXPECT_EQ(stored().at("4").path, "/c/k");
}

/// A fence that no lock of today has given: from indices of locks that were deleted, from another backend, or
/// from a tree that was restored here.
TEST_F(TreeAttacks, ATreeWhoseFencesAreGreaterThanAllTokensIsNotJammed) {
  const std::int64_t ahead = 4'102'444'800'000;  // the year 2100
  std::string body;
  for (int i = 0; i < 1'100; ++i)
    body += "{\"index\":{}}\n{\"path\":\"/big\",\"name\":\"n" + std::to_string(i) + "\"}\n";
  server().expect("POST", "/" + tree_index() + "/_bulk", body);
  set_fence(ahead);
  const auto client = open(Locking::kTree, kLong);
  EXPECT_EQ(client->tree->move(TreePath("/a"), TreePath("/b"), {}), std::nullopt);
  EXPECT_EQ(client->tree->put(TreePath("/c/k"), "new", {}), std::nullopt);
  EXPECT_EQ(client->tree->move(TreePath("/big"), TreePath("/two"), {}), std::nullopt);
  for (const auto& [id, document] : stored())
    EXPECT_GT(document.source.at("fence").get<std::int64_t>(), ahead) << id;
  // As a shell script writes it.
  set_fence(std::to_string(ahead * 2));
  EXPECT_EQ(client->tree->remove(TreePath("/two"), {}), std::nullopt);
  EXPECT_EQ(client->tree->put(TreePath("/c/k"), "newer", {}), std::nullopt);
  EXPECT_GT(stored().at("4").source.at("fence").get<std::int64_t>(), ahead * 2);
  // And as no token can be greater, or only few: these few are not used up.
  for (const std::int64_t fence : {std::int64_t{1} << 60, kMaxToken}) {
    set_fence(fence);
    EXPECT_THROW((void)client->tree->remove(TreePath("/b"), {}), Error);
    EXPECT_EQ(count_below("/b"), 3);
    EXPECT_EQ(client->tree->put(TreePath("/new/" + std::to_string(fence)), "", {}), std::nullopt);
  }
  expect_nothing_left(*client);
}

TEST_F(TreeAttacks, TokensGrowWhenTheIndicesOfLocksAreDeletedWhileNobodyHoldsOne) {
  EXPECT_EQ(other_->tree->put(TreePath("/c/k"), "old", {}), std::nullopt);
  const std::int64_t fence = stored().at("4").source.at("fence");
  const LockIndices indices = lock_indices(other_->config.locks.index);
  for (const std::string& index : {indices.locks, indices.journal}) server().expect("DELETE", "/" + index);
  EXPECT_EQ(open(Locking::kTree, kLong)->tree->put(TreePath("/c/k"), "new", {}), std::nullopt);
  EXPECT_GT(stored().at("4").source.at("fence").get<std::int64_t>(), fence);
}

TEST_F(TreeAttacks, AnOperationThatANewerLockstepHasBegunIsAnErrorThatNamesItsKind) {
  const auto mortal = open(Locking::kTree, kShort);
  const Operation dead = committed(*mortal, {.kind = "link", .from = "/a", .to = "/b"});
  wait_for_death_of(*other_, dead.id);
  const Operation other = committed(*mortal, {.kind = "rm", .from = "/c"});
  wait_for_death_of(*other_, other.id);
  const SweepResult result = other_->tree->recover();
  EXPECT_EQ(result.rolled_forward, 1) << "it keeps nobody from the others";
  ASSERT_FALSE(result.failures.empty());
  EXPECT_THAT(result.failures[0], HasSubstr(dead.id));
  EXPECT_THAT(result.failures[0], HasSubstr("\"link\""));
  EXPECT_EQ(other_->locks->find_operation(dead.id).value().owner, dead.id) << "nobody adopted it";
}

TEST_F(TreeAttacks, AnOperationOnAnotherTreeIsLeftAlone) {
  const auto mortal = open(Locking::kTree, kShort);
  Operation dead = mortal->locks->open({.kind = "mv", .from = "/a", .to = "/b", .target = "another"},
                                       tree_locks({"/a", "/b"}));
  mortal->locks->commit(dead);
  wait_for_death_of(*other_, dead.id);
  EXPECT_EQ(other_->tree->recover().needs_roll_forward, 1);
  EXPECT_THAT(paths(), ElementsAre("/a/f", "/a/g", "/a/s/h", "/c/k"));
}

}  // namespace
}  // namespace lockstep
