// Locks in PostgreSQL under the contract of LockManager, and what only they have: lost connections and
// answers, tables, and clients that call the functions without the program.
#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <thread>

#include "replicator/error.h"
#include "replicator/locks/backends/postgres/locks.h"
#include "tests/contract/lock_contract.h"
#include "tests/support/postgres_database.h"
#include "tests/support/tcp_proxy.h"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr seconds kLease{60};
const LockSet kOne = document_locks({"1"});

SourceConfig source_of(const std::string& url) {
  SourceConfig source;
  source.url = url;
  return source;
}

std::unique_ptr<LockManager> open_at(const std::string& url, milliseconds lease = kLease,
                                     milliseconds limit = kLease) {
  auto locks = std::make_unique<PostgresLocks>(source_of(url), lease, limit);
  locks->prepare();
  return locks;
}

class PostgresLockWorld final : public LockWorld {
 public:
  std::unique_ptr<LockManager> open(milliseconds lease) override { return open_at(database_.url(), lease); }

 private:
  support::PostgresDatabase database_;
};

const MakeLockWorld kPostgresLocks = [] { return std::make_unique<PostgresLockWorld>(); };

INSTANTIATE_TEST_SUITE_P(Postgresql, LockContract, testing::Values(kPostgresLocks),
                         [](const auto&) { return std::string("Tables"); });
INSTANTIATE_TEST_SUITE_P(Postgresql, SharedLockContract, testing::Values(kPostgresLocks),
                         [](const auto&) { return std::string("Tables"); });

class PostgresLocksTest : public testing::Test {
 protected:
  Operation hold(LockManager& locks, const LockSet& set) {
    Operation operation = locks.open({}, set);
    EXPECT_EQ(locks.try_acquire(operation, milliseconds(0)), std::nullopt);
    return operation;
  }

  void end(LockManager& locks, Operation& operation) {
    locks.finish(
        operation,
        operation.state == OperationState::kRunning ? OperationState::kDone : OperationState::kAborted, "");
    locks.release(operation);
    EXPECT_TRUE(locks.locks().empty());
    EXPECT_TRUE(locks.unresolved().empty());
  }

  void cut_all_sessions() {
    database_.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() "
        "and pid <> pg_backend_pid()");
  }

  support::PostgresDatabase database_;
};

TEST_F(PostgresLocksTest, ALostConnectionIsMadeAnewWithoutAWord) {
  const auto locks = open_at(database_.url());
  Operation operation = hold(*locks, kOne);
  cut_all_sessions();
  EXPECT_EQ(locks->try_acquire(operation, milliseconds(0)), std::nullopt);
  cut_all_sessions();
  locks->commit(operation);
  cut_all_sessions();
  end(*locks, operation);
}

TEST_F(PostgresLocksTest, WhoseAnswerIsLostHasTheLockOnceAndOneToken) {
  support::TcpProxy proxy(database_.server());
  const auto locks = open_at(database_.url_by({"127.0.0.1", proxy.port()}));
  Operation operation = locks->open({}, kOne);
  proxy.cut_after(0);
  EXPECT_EQ(locks->try_acquire(operation, milliseconds(0)), std::nullopt);
  EXPECT_EQ(database_.number("select count(*) from lockstep_locks.holder"), 1);
  proxy.cut_after(0);
  locks->commit(operation);
  EXPECT_EQ(operation.token, database_.number("select token from lockstep_locks.operation"));
  EXPECT_EQ(operation.token, database_.number("select last from lockstep_locks.token"));
  end(*locks, operation);
}

TEST_F(PostgresLocksTest, AServerThatDoesNotAnswerIsGivenUpInTime) {
  support::TcpProxy proxy(database_.server());
  const auto locks = open_at(database_.url_by({"127.0.0.1", proxy.port()}), kLease, milliseconds(300));
  Operation operation = hold(*locks, kOne);
  proxy.stall();
  const auto begin = std::chrono::steady_clock::now();
  try {
    locks->renew(operation);
    FAIL() << "nobody was there to renew it";
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("has not answered within 300 ms"));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(300));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10));
  proxy.heal();
  locks->renew(operation);
  end(*locks, operation);
}

TEST_F(PostgresLocksTest, ARefusalWritesNothing) {
  const auto locks = open_at(database_.url());
  Operation holder = hold(*locks, kOne);
  Operation other = locks->open({}, document_locks({"0", "1"}));
  const char* state =
      "select string_agg(l::text || l.xmin::text || l.ctid::text, ' ') from lockstep_locks.lock as l";
  const auto before = database_.value(state);
  EXPECT_TRUE(locks->try_acquire(other, milliseconds(0)));
  EXPECT_EQ(database_.value(state), before);
  locks->finish(other, OperationState::kAborted, "");
  locks->release(other);
  end(*locks, holder);
}

// Overlapping sets, asked for in every order, with places in queues: a deadlock in the server would be an
// error.
TEST_F(PostgresLocksTest, SetsThatCrossDoNotDeadlock) {
  constexpr int kThreads = 6;
  std::atomic<int> had = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto locks = open_at(database_.url());
      std::mt19937 random(static_cast<unsigned>(i));
      for (int round = 0; round < 60; ++round) {
        std::vector<LockRequest> requests;
        for (int name = 0; name < 6; ++name) {
          if (random() % 2 == 0) continue;
          const LockMode mode = random() % 2 == 0 ? LockMode::kShared : LockMode::kExclusive;
          requests.push_back({LockName(std::to_string(name)), mode});
        }
        Operation operation = locks->open({}, requests);
        if (!locks->try_acquire(operation, milliseconds(random() % 2))) ++had;
        locks->finish(operation, OperationState::kAborted, "");
        locks->release(operation);
      }
    });
  }
  threads.clear();
  EXPECT_GT(had, 0);
  EXPECT_EQ(database_.number("select deadlocks from pg_stat_database where datname = current_database()"), 0);
  EXPECT_EQ(database_.number("select count(*) from lockstep_locks.holder"), 0);
}

TEST_F(PostgresLocksTest, TokensGrowThoughTheDatabaseGoesBack) {
  const auto locks = open_at(database_.url());
  Operation first = hold(*locks, kOne);
  locks->commit(first);
  end(*locks, first);
  database_.execute("update lockstep_locks.token set last = 0");  // a restored backup
  Operation second = hold(*locks, kOne);
  locks->commit(second);
  EXPECT_GT(second.token, first.token);
  end(*locks, second);
  database_.execute("update lockstep_locks.token set last = last + 1000000000");  // a clock that was ahead
  Operation third = hold(*locks, kOne);
  locks->commit(third);
  EXPECT_GT(third.token, second.token + 1'000'000'000);
  end(*locks, third);
}

TEST_F(PostgresLocksTest, AClientWithoutAJournalEntryHasTheLeaseInItsLock) {
  const auto locks = open_at(database_.url());
  const auto take = [&](const std::string& lease) {
    database_.execute("select * from lockstep_locks.acquire('client 7', '{}', '{1}', '" + lease + "')");
  };
  take("1 minute");
  EXPECT_EQ(locks->resolve("client 7", {LockName("1")}, Adoption::kAllowed).kind, Resolution::Kind::kAlive);
  take("-1 second");
  NoRollForward nothing;
  Operation next = locks->open({}, kOne);
  EXPECT_EQ(acquire(*locks, next, nothing, {}), std::nullopt);
  end(*locks, next);
}

TEST_F(PostgresLocksTest, ManyPrepareTheTablesAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back([&] { EXPECT_NO_THROW(open_at(database_.url())); });
  threads.clear();
  EXPECT_EQ(database_.number("select count(*) from lockstep_locks.migration"), 3);
}

TEST_F(PostgresLocksTest, TablesOfANewerLockstepAreLeftAlone) {
  (void)open_at(database_.url());
  database_.execute(
      "insert into lockstep_locks.migration (number, name, checksum, applied_by) "
      "values (4, '0004_more', 'x', '99.0.0')");
  try {
    (void)open_at(database_.url());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("migrated by a newer lockstep"));
  }
}

TEST_F(PostgresLocksTest, AStateThatANewerLockstepWroteIsAnErrorThatNamesIt) {
  const auto locks = open_at(database_.url());
  const Operation operation = locks->open({}, kOne);
  database_.execute(
      "alter table lockstep_locks.operation drop constraint operation_state_check; "
      "update lockstep_locks.operation set state = 'paused'");
  try {
    (void)locks->find_operation(operation.id);
    FAIL();
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr(operation.id));
    EXPECT_THAT(error.what(), HasSubstr("\"paused\""));
  }
}

TEST_F(PostgresLocksTest, AnEntryWithoutAKindIsAnErrorThatNamesIt) {
  const auto locks = open_at(database_.url());
  const Operation operation = locks->open({}, kOne);
  database_.execute("update lockstep_locks.operation set kind = ''");
  try {
    (void)locks->unresolved();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(operation.id));
    EXPECT_THAT(error.what(), HasSubstr("no kind"));
  }
}

TEST_F(PostgresLocksTest, AnAnswerThatANewerLockstepGaveIsAnErrorAndNoAdoption) {
  const auto locks = open_at(database_.url());
  const Operation operation = locks->open({.kind = "mv"}, kOne);
  database_.execute(
      "create or replace function lockstep_locks.seize(entry text, seen bigint, me text, lease interval, "
      "adopt boolean) returns table (answer text, operation lockstep_locks.operation) language sql as "
      "$$ select 'paused', o from lockstep_locks.operation as o where id = entry $$");
  try {
    (void)locks->resolve(operation.id, {}, Adoption::kAllowed);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(operation.id));
    EXPECT_THAT(error.what(), HasSubstr("\"paused\""));
  }
}

TEST_F(PostgresLocksTest, TheLocksHaveASchemaOfTheirOwnWhateverThatOfThePipelineIsCalled) {
  SourceConfig source = source_of(database_.url());
  source.schema = "My \"own\"";
  PostgresLocks locks(source, kLease, kLease);
  locks.prepare();
  Operation operation = hold(locks, kOne);
  EXPECT_EQ(database_.number(R"(select count(*) from "My ""own""_locks".holder)"), 1);
  end(locks, operation);
}

TEST_F(PostgresLocksTest, ANameThatAnIndexCannotTakeIsStoredShortened) {
  const auto locks = open_at(database_.url());
  std::mt19937 random(1);
  std::string longest;  // no pattern that the server could compress
  while (longest.size() < 4'000) longest += static_cast<char>('a' + random() % 26);
  for (const std::size_t length : {2'400, 2'401, 4'000}) {
    const LockName name(longest.substr(0, length));
    Operation operation = hold(*locks, {{name, LockMode::kExclusive}});
    locks->renew(operation);
    const std::optional<LockState> held = locks->find_lock(name);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->name, name);
    end(*locks, operation);
    EXPECT_EQ(database_.number("select count(*) from lockstep_locks.lock"), 0);
  }
}

// Reported: in a LATIN1 database no command with "€" in its arguments could be run.
TEST(PostgresLocksEncoding, ADatabaseThatLacksACharacterKeepsOutOnlyLocksOfThatName) {
  support::PostgresDatabase latin(support::postgresql_url(), "LATIN1");
  const auto locks = open_at(latin.url());
  Operation operation = locks->open({.target = "echo €"}, document_locks({"é"}));
  EXPECT_EQ(locks->try_acquire(operation, milliseconds(0)), std::nullopt);
  EXPECT_EQ(locks->find_operation(operation.id).value().intent.target, "echo ???");
  locks->finish(operation, OperationState::kAborted, "€ is a reason, too");
  locks->release(operation);
  EXPECT_TRUE(locks->locks().empty());
  const auto expect_refused = [](const char* text, const auto& step) {
    try {
      step();
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
      EXPECT_THAT(error.what(), HasSubstr("a database with the encoding UTF8"));
    }
  };
  expect_refused("the encoding of the database lacks characters of €", [&] {
    (void)locks->open({.target = "echo €"}, document_locks({"1", "€"}));
  });
  expect_refused("reading the lock €", [&] { (void)locks->find_lock(LockName("€")); });
  EXPECT_TRUE(locks->unresolved().empty());
}

TEST_F(PostgresLocksTest, PlacesOfThoseWhoAreGoneAreClearedUp) {
  const auto locks = open_at(database_.url());
  Operation holder = hold(*locks, kOne);
  Operation waiter = locks->open({}, kOne);
  EXPECT_TRUE(locks->try_acquire(waiter, milliseconds(1)));
  locks->finish(holder, OperationState::kAborted, "");
  database_.execute("delete from lockstep_locks.holder");
  locks->prune(std::chrono::hours(1));
  EXPECT_EQ(database_.number("select count(*) from lockstep_locks.lock"), 0);
  EXPECT_EQ(database_.number("select count(*) from lockstep_locks.waiter"), 0);
  locks->finish(waiter, OperationState::kAborted, "");
  locks->release(waiter);
}

}  // namespace
}  // namespace lockstep
