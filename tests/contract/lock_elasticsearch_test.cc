// Locks in Elasticsearch under the contract of LockManager: with scripts, and on an engine without painless.
#include <gmock/gmock.h>

#include <functional>
#include <future>
#include <set>

#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/locks/backends/elasticsearch/lock_documents.h"
#include "replicator/locks/backends/elasticsearch/lock_index.h"
#include "replicator/locks/backends/elasticsearch/lock_json.h"
#include "replicator/locks/backends/elasticsearch/lock_scripts.h"
#include "replicator/locks/backends/elasticsearch/locks.h"
#include "replicator/locks/sweep.h"
#include "tests/contract/lock_contract.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/servers.h"

namespace lockstep {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;

std::unique_ptr<HttpTransport> transport() {
  ElasticsearchConfig config;
  config.urls = {support::elasticsearch_url()};
  return make_transport_factory(config)();
}

/// The real engine, which says that it has no painless.
class WithoutPainless final : public HttpTransport {
 public:
  HttpResponse perform(const HttpRequest& request) override {
    if (request.path.starts_with("/_cluster/state/metadata")) return {200, "{}"};
    if (request.path == "/_script_language") {
      return {200, R"({"types_allowed": ["inline", "stored"],
                       "language_contexts": [{"language": "mustache", "contexts": ["template"]}]})"};
    }
    EXPECT_FALSE(request.body.find("\"script\"") != std::string_view::npos) << request.path;
    return transport_->perform(request);
  }

 private:
  std::unique_ptr<HttpTransport> transport_ = transport();
};

/// The real engine, which cannot do the next so many writes: first as while it is restarted, then as
/// Elasticsearch 7.10 says that it has compiled too many scripts.
class BusyTransport final : public HttpTransport {
 public:
  explicit BusyTransport(int& failures) : failures_(failures) {}
  HttpResponse perform(const HttpRequest& request) override {
    const bool writes = request.path.find("if_seq_no") != std::string::npos ||
                        request.path.find("/_bulk") != std::string::npos;
    if (!writes || failures_ == 0) return transport_->perform(request);
    if (failures_-- % 2 == 0)
      return {503,
              R"({"error": {"type": "master_not_discovered_exception", "reason": null}, "status": 503})"};
    return {400, R"({"error": {"type": "illegal_argument_exception", "reason": "failed to execute script",
      "caused_by": {"type": "general_script_exception", "reason": "Failed to compile stored script [x] using lang [painless]",
        "caused_by": {"type": "circuit_breaking_exception", "reason": "[script] Too many dynamic script compilations within"}}},
      "status": 400})"};
  }

 private:
  int& failures_;
  std::unique_ptr<HttpTransport> transport_ = transport();
};

class CountingTransport final : public HttpTransport {
 public:
  explicit CountingTransport(int& requests) : requests_(requests) {}
  HttpResponse perform(const HttpRequest& request) override {
    ++requests_;
    return transport_->perform(request);
  }

 private:
  int& requests_;
  std::unique_ptr<HttpTransport> transport_ = transport();
};

class ElasticsearchWorld : public LockWorld {
 public:
  std::unique_ptr<LockManager> open(std::chrono::milliseconds lease) override {
    auto locks = std::make_unique<ElasticsearchLocks>(connect(), lock_indices(index_.alias() + "-locks"),
                                                      lease, std::chrono::seconds(30));
    locks->prepare();
    return locks;
  }

 protected:
  virtual std::unique_ptr<HttpTransport> connect() { return transport(); }

 private:
  support::ElasticsearchIndex index_{"locks"};
};

class PlainElasticsearchWorld final : public ElasticsearchWorld {
  std::unique_ptr<HttpTransport> connect() override { return std::make_unique<WithoutPainless>(); }
};

const MakeLockWorld kScripted = [] { return std::make_unique<ElasticsearchWorld>(); };
const MakeLockWorld kPlain = [] { return std::make_unique<PlainElasticsearchWorld>(); };

INSTANTIATE_TEST_SUITE_P(Elasticsearch, LockContract, testing::Values(kScripted),
                         [](const auto&) { return std::string("Painless"); });
INSTANTIATE_TEST_SUITE_P(Elasticsearch, SharedLockContract, testing::Values(kScripted),
                         [](const auto&) { return std::string("Painless"); });
INSTANTIATE_TEST_SUITE_P(ElasticsearchWithoutScripts, LockContract, testing::Values(kPlain),
                         [](const auto&) { return std::string("Plain"); });

/// Lock documents as the book's clients write and change them, beside ours.
class BookLocks : public testing::Test {
 protected:
  BookLocks() { locks_.prepare(); }

  void write(const std::string& id, const std::string& document) {
    server().expect("PUT", path("_doc", id), document);
  }
  json read(const std::string& id) {
    const auto reply = server().request("GET", path("_doc", id));
    return reply.status == 404 ? json() : reply.json().at("_source");
  }
  /// Runs the book's script for one more holder of a shared lock, in painless; returns the status.
  int book_share(const std::string& id) {
    return update(id, R"({"upsert": {"lock_type": "shared", "lock_count": 1}, "script":
      "if (ctx._source.lock_type == 'exclusive') { throw new Exception('locked') } ctx._source.lock_count++"})");
  }
  int book_unshare(const std::string& id) {
    return update(id, R"({"script": "if (--ctx._source.lock_count == 0) { ctx.op = 'delete' }"})");
  }
  /// The book's re-entrant document lock of process 123.
  int book_document_lock(const std::string& id) {
    return update(id, R"({"upsert": {"process_id": 123}, "script":
      "if (ctx._source.process_id != 123) { throw new Exception('locked') } ctx.op = 'noop'"})");
  }
  int book_create(const std::string& id) {
    return server().request("PUT", path("_create", id), R"({"lock_type": "exclusive"})").status;
  }

  std::optional<Refusal> ask(const LockSet& set) {
    Operation operation = locks_.open({}, set);
    std::optional<Refusal> refusal = locks_.try_acquire(operation, std::chrono::milliseconds(0));
    locks_.finish(operation, OperationState::kAborted, "");
    locks_.release(operation);
    return refusal;
  }
  Operation hold(const LockSet& set) {
    Operation operation = locks_.open({}, set);
    EXPECT_EQ(locks_.try_acquire(operation, std::chrono::milliseconds(0)), std::nullopt);
    return operation;
  }

  static LockSet shared(const std::string& name) { return {{LockName(name), LockMode::kShared}}; }
  static LockSet exclusive(const std::string& name) { return {{LockName(name), LockMode::kExclusive}}; }

  support::ElasticsearchServer& server() { return index_.server(); }
  std::string path(const std::string& endpoint, const std::string& id) {
    return "/" + index_.alias() + "-locks/" + endpoint + "/" + percent_encoded(id);
  }
  int update(const std::string& id, const std::string& body) {
    return server().request("POST", path("_update", id), body).status;
  }
  /// As a client of another language does, for so many milliseconds.
  int take_by_script(const std::string& id, const std::string& holder, int lease) {
    return update(id, R"({"scripted_upsert": true, "upsert": {}, "script": {"id": ")" +
                          std::string(script_id::kAcquire) + R"(", "params": {"holder": ")" + holder +
                          R"(", "mode": "exclusive", "mark": 0, "name": null, "lease": )" +
                          std::to_string(lease) + "}}}");
  }

  support::ElasticsearchIndex index_{"book"};
  ElasticsearchLocks locks_{transport(), lock_indices(index_.alias() + "-locks"), std::chrono::seconds(60),
                            std::chrono::seconds(30)};
};

TEST_F(BookLocks, AnEmptyDocumentIsTheBooksGlobalLock) {
  write("global", "{}");
  const std::optional<Refusal> refusal = ask(global_lock());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(text_of(*refusal), "global is locked exclusively by an unnamed holder without a lease");
  EXPECT_EQ(read("global").value("lock_type", "none"), "none") << "it stays as it is";
  server().expect("DELETE", path("_doc", "global"));
  EXPECT_FALSE(ask(global_lock()));
}

TEST_F(BookLocks, ADocumentLockIsHeldByItsProcess) {
  write("1", R"({"process_id": 123})");
  const std::optional<Refusal> refusal = ask(document_locks({"1", "2"}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(text_of(*refusal), "1 is locked exclusively by process 123 without a lease");
  EXPECT_EQ(book_document_lock("1"), 200);
  ASSERT_EQ(locks_.locks().size(), 1u);
  EXPECT_EQ(locks_.locks()[0].holders.at(0), (LockHolder{"123", std::nullopt}));
}

TEST_F(BookLocks, AHolderOfAnUnknownModeSharesWithNobodyAndIsNamed) {
  write(
      "1",
      R"({"lock_type": "shared", "lock_count": 1, "holders": {"newer": {"until": 9000000000000, "mode": "update"}}})");
  EXPECT_THAT([&] { (void)ask(shared("1")); },
              ThrowsMessage<Error>(HasSubstr("holders.newer.mode is \"update\"")));
  EXPECT_EQ(read("1").at("holders").size(), 1u);
}

TEST_F(BookLocks, AnOperationInAnUnknownStateIsNamedByWhoeverLooksForThoseThatAreOpen) {
  Operation ours = hold(shared("1"));
  server().expect("POST", "/" + index_.alias() + "-journal/_update/" + ours.id + "?refresh=true",
                  R"({"doc": {"state": "paused"}})");
  std::string named;
  EXPECT_TRUE(locks_.unresolved([&](const Error& error) { named = error.what(); }).empty());
  EXPECT_THAT(named, AllOf(HasSubstr(ours.id), HasSubstr("\"paused\"")));
}

TEST_F(BookLocks, TheBooksClientsRespectOurs) {
  Operation ours = hold({{LockName("1"), LockMode::kExclusive}, {LockName("/clinton"), LockMode::kShared}});
  EXPECT_EQ(book_document_lock("1"), 400);
  EXPECT_EQ(book_share("1"), 400);
  EXPECT_EQ(book_create("1"), 409);
  EXPECT_EQ(book_create("/clinton"), 409);
  EXPECT_EQ(read("1").at("process_id"), ours.id);
  EXPECT_EQ(read("1").at("lock_type"), "exclusive");
  EXPECT_EQ(read("1").at("lock_count"), 1);
  locks_.release(ours);
  EXPECT_EQ(book_create("/clinton"), 201);
}

TEST_F(BookLocks, SharersOfBothKindsAreCountedTogether) {
  EXPECT_EQ(book_share("/clinton"), 201);
  Operation ours = hold(shared("/clinton"));
  EXPECT_EQ(read("/clinton").at("lock_count"), 2);
  EXPECT_EQ(book_share("/clinton"), 200);
  EXPECT_EQ(read("/clinton").at("lock_count"), 3);
  EXPECT_THAT(text_of(*ask(exclusive("/clinton"))), HasSubstr(", 2 without a name"));
  locks_.release(ours);
  EXPECT_EQ(read("/clinton").at("lock_count"), 2);
  EXPECT_TRUE(ask(exclusive("/clinton")));
  EXPECT_EQ(book_unshare("/clinton"), 200);
  EXPECT_EQ(book_unshare("/clinton"), 200);
  EXPECT_TRUE(read("/clinton").is_null());
  EXPECT_FALSE(ask(exclusive("/clinton")));
}

TEST_F(BookLocks, AnExclusiveLockWithoutAHolderIsHeld) {
  EXPECT_EQ(book_create("/clinton"), 201);
  EXPECT_TRUE(ask(shared("/clinton")));
  EXPECT_TRUE(ask(exclusive("/clinton")));
  EXPECT_EQ(read("/clinton"), json::parse(R"({"lock_type": "exclusive"})"));
}

TEST_F(BookLocks, AMarkAtABooksLockLeavesItHeld) {
  write("1", R"({"process_id": 123})");
  Operation waiter = locks_.open({}, document_locks({"1"}));
  EXPECT_TRUE(locks_.try_acquire(waiter, std::chrono::seconds(60)));
  EXPECT_TRUE(ask(document_locks({"1"})));
  locks_.release(waiter);
  EXPECT_EQ(read("1").at("process_id"), 123);
  EXPECT_TRUE(ask(document_locks({"1"})));
}

TEST_F(BookLocks, ABooksLockCanBeBroken) {
  write("global", "{}");
  write("/clinton", R"({"lock_type": "shared", "lock_count": 3})");
  Operation ours = hold(shared("/clinton"));
  EXPECT_EQ(locks_.break_lock(LockName("global"), "a test"), Broken::kReleased);
  EXPECT_EQ(locks_.break_lock(LockName("/clinton"), "a test"), Broken::kReleased);
  EXPECT_TRUE(locks_.locks().empty());
  EXPECT_THROW(locks_.renew(ours), LeaseLost);
}

TEST_F(BookLocks, AClientWithoutAJournalEntryHasTheLeaseInItsLock) {
  const auto take = [&](int lease) { return take_by_script("x", "client 7", lease); };
  EXPECT_EQ(take(60'000), 201);
  EXPECT_EQ(locks_.resolve("client 7", {LockName("x")}, Adoption::kAllowed).kind, Resolution::Kind::kAlive);
  EXPECT_EQ(take(-1'000), 200);
  NoRollForward nothing;
  Operation next = locks_.open({}, exclusive("x"));
  EXPECT_EQ(acquire(locks_, next, nothing, {}), std::nullopt);
}

TEST_F(BookLocks, ASweepAsksOnceForAHolderOfManyLocks) {
  constexpr int kMany = 100;
  std::vector<std::string> names;
  for (int i = 0; i < kMany; ++i) names.push_back("x" + std::to_string(i));
  const Operation alive = locks_.open({}, document_locks(names));
  for (const std::string& name : names) {
    ASSERT_EQ(take_by_script(name, alive.id, -1'000), 201);
    ASSERT_EQ(take_by_script(name + " too", "client 7", -1'000), 201);
  }

  int requests = 0;
  ElasticsearchLocks sweeper(std::make_unique<CountingTransport>(requests),
                             lock_indices(index_.alias() + "-locks"), std::chrono::seconds(60),
                             std::chrono::seconds(30));
  sweeper.prepare();
  requests = 0;
  NoRollForward nothing;
  EXPECT_EQ(sweep(sweeper, nothing).released, kMany);
  EXPECT_LT(requests, 20);
  EXPECT_EQ(locks_.locks().size(), static_cast<std::size_t>(kMany)) << "who lives keeps its locks";
}

TEST(ElasticsearchLocksTest, TheCommitAndTheEndOutlastAnEngineThatIsRestartedOrCompilesTooManyScripts) {
  const support::ElasticsearchIndex index("busy");
  int failures = 0;
  ElasticsearchLocks locks(std::make_unique<BusyTransport>(failures), lock_indices(index.alias() + "-locks"),
                           std::chrono::seconds(60), std::chrono::seconds(30));
  locks.prepare();
  Operation operation = locks.open({}, document_locks({"1"}));
  ASSERT_EQ(locks.try_acquire(operation, std::chrono::milliseconds(0)), std::nullopt);
  failures = 2;
  locks.commit(operation);
  EXPECT_EQ(failures, 0);
  EXPECT_GT(operation.token, 0);
  failures = 2;
  locks.finish(operation, OperationState::kDone, "");
  failures = 2;
  locks.release(operation);
  EXPECT_TRUE(locks.locks().empty());
  EXPECT_TRUE(locks.unresolved().empty());

  Operation given_up = locks.open({}, document_locks({"1"}));
  failures = 1;
  EXPECT_THROW(locks.finish(given_up, OperationState::kAborted, ""), Error)
      << "which may be left to its lease";
}

/// Both indices are gone and new within a step of the server's clock, as far as anybody can tell.
TEST(ElasticsearchLocksTest, TwoOperationsOfTheSameClockStepHaveDifferentTokensThoughTheIndicesWereDeleted) {
  for (const MakeLockWorld& make : {kScripted, kPlain}) {
    const auto world = make();
    const auto locks = world->open(std::chrono::seconds(60));
    const auto before = locks->now().time_since_epoch();
    Operation operation = locks->open({}, {});
    locks->commit(operation);
    // The one before it may have drawn all of this step's, and some more: one at a time, each by two
    // requests.
    EXPECT_GE(operation.token, std::chrono::milliseconds(before).count() + 800);
    const FencingToken first = operation.token;
    Operation next = locks->open({}, {});
    locks->commit(next);
    EXPECT_GT(next.token, first);
  }
}

// The figures of docs/locks.md, "What it costs".
TEST(ElasticsearchLocksTest, AnOperationCostsSevenRequestsWhateverItLocksAndARefusalOne) {
  const support::ElasticsearchIndex index("cost");
  int requests = 0;
  ElasticsearchLocks locks(std::make_unique<CountingTransport>(requests),
                           lock_indices(index.alias() + "-locks"), std::chrono::seconds(60),
                           std::chrono::seconds(30));
  locks.prepare();
  const auto cost_of = [&](const auto& step) {
    requests = 0;
    step();
    return requests;
  };
  Operation operation;
  EXPECT_EQ(cost_of([&] { operation = locks.open({}, tree_locks({"/a/b/c", "/a/b/d"})); }), 1);
  EXPECT_EQ(cost_of([&] { (void)locks.try_acquire(operation, {}); }), 1);
  EXPECT_EQ(cost_of([&] { locks.commit(operation); }), 2) << "the token, too";
  EXPECT_EQ(cost_of([&] { locks.renew(operation); }), 4) << "it looks whether both indices are there";
  Operation refused = locks.open({}, {{LockName("/a/b/c"), LockMode::kShared}});
  EXPECT_EQ(cost_of([&] { EXPECT_TRUE(locks.try_acquire(refused, {})); }), 1);
  EXPECT_EQ(cost_of([&] { EXPECT_TRUE(locks.try_acquire(refused, std::chrono::seconds(60))); }), 1)
      << "with a place";
  EXPECT_EQ(
      cost_of([&] { EXPECT_TRUE(locks.try_again(refused, LockName("/a/b/c"), std::chrono::seconds(60))); }),
      1);
  EXPECT_EQ(cost_of([&] { locks.finish(operation, OperationState::kDone, ""); }), 1);
  EXPECT_EQ(cost_of([&] { locks.release(operation); }), 2) << "its entry, too";
}

/// Sends each opening of an operation several times at once, as to nodes that do not answer in time.
class RepeatingTransport final : public HttpTransport {
 public:
  HttpResponse perform(const HttpRequest& request) override {
    if (request.body.find(script_id::kJournalOpen) == std::string_view::npos)
      return transport_->perform(request);
    std::vector<std::future<HttpResponse>> sent;
    for (int i = 0; i < kTimes; ++i)
      sent.push_back(std::async(std::launch::async, [&] { return transport()->perform(request); }));
    HttpResponse last;
    for (auto& each : sent) {
      last = each.get();
      EXPECT_EQ(last.status / 100, 2) << last.body;
    }
    return last;
  }

 private:
  static constexpr int kTimes = 6;
  std::unique_ptr<HttpTransport> transport_ = transport();
};

TEST(ElasticsearchLocksTest, AnOpeningThatArrivesTwiceAtOnceOpensOneOperation) {
  const support::ElasticsearchIndex index("twice");
  ElasticsearchLocks locks(std::make_unique<RepeatingTransport>(), lock_indices(index.alias() + "-locks"),
                           std::chrono::seconds(60), std::chrono::seconds(30));
  locks.prepare();
  Operation operation = locks.open({}, document_locks({"1"}));
  EXPECT_EQ(locks.try_acquire(operation, std::chrono::milliseconds(0)), std::nullopt);
  EXPECT_NO_THROW(locks.commit(operation)) << "its version is the one that is stored";
  locks.finish(operation, OperationState::kDone, "");
  locks.release(operation);
}

TEST(ElasticsearchLocksTest, SharedLocksNeedPainlessAndSaySo) {
  PlainElasticsearchWorld world;
  const std::unique_ptr<LockManager> locks = world.open(std::chrono::seconds(60));
  Operation operation = locks->open({}, tree_locks({"/a"}));
  try {
    (void)locks->try_acquire(operation, std::chrono::milliseconds(0));
    FAIL();
  } catch (const Error& error) {
    EXPECT_FALSE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("does not run stored painless scripts"));
  }
}

TEST(ElasticsearchLocksTest, AnIndexOfSomebodyElseIsLeftAlone) {
  const support::ElasticsearchIndex index("foreign");
  const std::string path = "/" + index.alias() + "-locks";
  index.server().expect("PUT", path, R"({"mappings": {"properties": {"title": {"type": "text"}}}})");
  const auto refused = [&] {
    ElasticsearchLocks locks(transport(), lock_indices(index.alias() + "-locks"), std::chrono::seconds(60),
                             std::chrono::seconds(30));
    std::set<std::string> words;
    for (const auto& ask : std::initializer_list<std::function<void()>>{[&] { locks.prepare(); },
                                                                        [&] { (void)locks.attach(); }}) {
      try {
        ask();
        words.insert("none");
      } catch (const Error& error) {
        words.insert(error.what());
      }
    }
    EXPECT_EQ(words.size(), 1u) << "who looks says the same";
    return *words.begin();
  };
  EXPECT_THAT(refused(), HasSubstr("lockstep has not made it: its mapping has the field \"title\""));
  index.server().expect("DELETE", path);
  index.server().expect("DELETE", "/_index_template/" + index.alias() + "-locks");
  index.server().expect("PUT", path + "/_doc/x?refresh", R"({"lock_type": "shared", "lock_count": 2})");
  EXPECT_THAT(refused(), HasSubstr("reading the lock x: it is held without a lease"));
  EXPECT_EQ(index.server().expect("GET", path + "/_doc/x").at("found"), true);
}

class DeletedLockIndices : public testing::Test {
 protected:
  std::unique_ptr<ElasticsearchLocks> open() const {
    return std::make_unique<ElasticsearchLocks>(transport(), lock_indices(locks_), std::chrono::seconds(60),
                                                std::chrono::seconds(30));
  }
  void delete_all() const {
    index_.server().expect("DELETE", "/_index_template/" + locks_);
    index_.server().expect("DELETE", "/" + locks_ + "," + journal_);
  }
  void expect_mapped(const std::string& name) const {
    const json reply = index_.server().expect("GET", "/" + name + "/_mapping");
    EXPECT_EQ(reply.at(name).at("mappings").value("dynamic", ""), "false") << reply;
  }

  const support::ElasticsearchIndex index_{"deleted"};
  const std::string locks_ = index_.alias() + "-locks";
  const std::string journal_ = index_.alias() + "-journal";
};

// Reported: a renewal made them again, without a mapping, and everybody failed from then on.
TEST_F(DeletedLockIndices, AreNotMadeAgainByWhoHeldALockInThem) {
  const auto locks = open();
  locks->prepare();
  Operation operation = locks->open({}, document_locks({"1"}));
  EXPECT_EQ(locks->try_acquire(operation, std::chrono::milliseconds(0)), std::nullopt);
  locks->commit(operation);
  delete_all();
  EXPECT_THROW(locks->renew(operation), LeaseLost);
  EXPECT_THROW(locks->record(operation), LeaseLost);
  EXPECT_THROW(locks->finish(operation, OperationState::kDone, ""), LeaseLost);
  locks->release(operation);
  for (const std::string& name : {locks_, journal_})
    EXPECT_EQ(index_.server().request("HEAD", "/" + name).status, 404) << name;
}

TEST_F(DeletedLockIndices, AreMadeAnewWhenAWriteHasBroughtThemBackWithoutTheirMapping) {
  open()->prepare();
  delete_all();
  index_.server().expect("PUT", "/" + locks_ + "/_doc/x",
                         R"({"lock_type": "exclusive", "lock_count": 1, "process_id": "a",
                             "holders": {"a": {"until": 1, "calls": 1, "mode": "exclusive"}}})");
  index_.server().expect("PUT", "/" + journal_ + "/_doc/lockstep-token", R"({"last": 7})");
  const auto looking = open();
  try {
    (void)looking->attach();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("made it again without its mapping; `lockstep locks prepare` makes it"));
  }
  const auto locks = open();
  locks->prepare();
  for (const std::string& name : {locks_, journal_}) expect_mapped(name);
  index_.server().expect("GET", "/_index_template/" + locks_);
  EXPECT_TRUE(looking->attach());
  EXPECT_TRUE(looking->locks().empty());
  EXPECT_TRUE(looking->unresolved().empty());
}

TEST_F(DeletedLockIndices, AreNotMadeAnewUnderSomebodyWhoLives) {
  ElasticsearchClient client(transport());
  const auto written = [&](milliseconds ahead) {
    const std::string until = std::to_string(milliseconds_of(read_server_time(client) + ahead));
    index_.server().expect("PUT", "/" + locks_ + "/_doc/x",
                           R"({"lock_type": "exclusive", "lock_count": 1, "process_id": "a",
                               "holders": {"a": {"until": )" +
                               until + R"(, "calls": 1, "mode": "exclusive"}}})");
  };
  written(std::chrono::hours(1));
  try {
    require_lock_index(client, locks_, milliseconds(0));
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("a lock in it is held until "));
  }
  written(milliseconds(300));
  require_lock_index(client, locks_, std::chrono::seconds(60));
  expect_mapped(locks_);
}

TEST(ElasticsearchLocksTest, IndicesThatAreReadOnlyAreSaidBeforeALockIsAskedFor) {
  const support::ElasticsearchIndex index("blocked");
  ElasticsearchLocks locks(transport(), lock_indices(index.alias() + "-locks"), std::chrono::seconds(60),
                           std::chrono::seconds(30));
  locks.prepare();
  const std::string settings = "/" + index.alias() + "-journal/_settings";
  index.server().expect("PUT", settings, R"({"index.blocks.read_only_allow_delete": true})");
  try {
    locks.prepare();
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_THAT(error.what(), HasSubstr("-journal is read-only: it has index.blocks.read_only_allow_delete"));
  }
  index.server().expect("PUT", settings, R"({"index.blocks.read_only_allow_delete": null})");
}

TEST(ElasticsearchLocksTest, AChangedStoredScriptIsPutRightAgain) {
  support::ElasticsearchServer server;
  ElasticsearchClient client(transport());
  ASSERT_EQ(install_lock_scripts(client), Painless::kHere);
  // It still does the same, for the tests beside this one.
  const LockScript changed = lock_scripts().front();
  const json other = {{"lang", "painless"}, {"source", std::string(changed.source) + "\n"}};
  server.expect("PUT", "/_scripts/" + changed.id, json{{"script", other}}.dump());
  ASSERT_EQ(install_lock_scripts(client), Painless::kHere);
  for (const LockScript& script : lock_scripts()) {
    EXPECT_EQ(server.expect("GET", "/_scripts/" + script.id).at("script").at("source"), script.source);
  }
}

}  // namespace
}  // namespace lockstep
