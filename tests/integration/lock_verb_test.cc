// `lockstep lock` and `lockstep locks` as users call them, over each backend, with a configuration that has
// no index and only that backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "replicator/elasticsearch/transport/text_encoding.h"
#include "tests/support/elasticsearch_index.h"
#include "tests/support/eventually.h"
#include "tests/support/postgres_database.h"
#include "tests/support/program.h"
#include "tests/support/servers.h"
#include "tests/support/tcp_proxy.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/terminal.h"

namespace lockstep::support {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr seconds kPatience{60};
constexpr int kTerminated = 128 + SIGTERM;

/// The place for one test's locks.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual HostAndPort server() const = 0;
  /// A configuration for that place.
  virtual std::string configuration(const HostAndPort& at, const std::string& lease) const = 0;
  /// How a message names the first step that fails without the server.
  virtual std::string first_request() const = 0;
  /// Whether there is anything.
  virtual bool is_prepared() = 0;
};

class ElasticsearchBackend final : public Backend {
 public:
  HostAndPort server() const override { return host_and_port(elasticsearch_url()); }
  std::string configuration(const HostAndPort& at, const std::string& lease) const override {
    return "[elasticsearch]\nurls = [\"http://" + at.host + ":" + std::to_string(at.port) +
           "\"]\n[locks]\nindex = \"" + index_.alias() + "-locks\"\nlease = \"" + lease + "\"\n";
  }
  std::string first_request() const override { return "reading the stored scripts"; }
  bool is_prepared() override {
    return index_.server().request("HEAD", "/" + index_.alias() + "-locks").status == 200 ||
           index_.server().request("HEAD", "/" + index_.alias() + "-journal").status == 200;
  }
  std::string index() const { return index_.alias(); }

 private:
  ElasticsearchIndex index_{"verb"};
};

class PostgresBackend final : public Backend {
 public:
  HostAndPort server() const override {
    const std::size_t colon = url_.find(':', host_);
    return {url_.substr(host_, colon - host_), std::stoi(url_.substr(colon + 1))};
  }
  std::string configuration(const HostAndPort& at, const std::string& lease) const override {
    return "[source]\nurl = \"" + url_.substr(0, host_) + at.host + ":" + std::to_string(at.port) +
           url_.substr(url_.rfind('/')) + "\"\n[locks]\nbackend = \"postgresql\"\nlease = \"" + lease +
           "\"\n";
  }
  std::string first_request() const override { return "connecting to the source"; }
  bool is_prepared() override {
    return database_.number("select count(*) from pg_namespace where nspname = 'lockstep_locks'") == 1;
  }

 private:
  PostgresDatabase database_;
  std::string url_ = database_.url();
  std::size_t host_ = url_.rfind('@') + 1;
};

/// Whether the process blocks the signal, to read it when it likes.
bool catches(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

using MakeBackend = std::unique_ptr<Backend> (*)();
const HostAndPort kNowhere{"127.0.0.1", 1};

class LockVerb : public testing::TestWithParam<MakeBackend> {
 protected:
  LockVerb() { configure("10s"); }

  void configure(const std::string& lease) { configure(lease, backend_->server()); }
  void configure(const std::string& lease, const HostAndPort& at) {
    config_ = folder_.write("locks.toml", backend_->configuration(at, lease));
  }

  /// `lockstep COMMAND -c … ARGUMENT…`
  std::vector<std::string> arguments(const std::string& verb, const std::vector<std::string>& more) const {
    std::vector<std::string> all = {verb, "-c", config_.string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Completed lockstep(const std::string& verb, const std::vector<std::string>& more) const {
    return run_program(lockstep_program(), arguments(verb, more));
  }
  /// `lockstep lock --exclusive x … -- sh -c SCRIPT`, in the background. A busy server is waited for.
  std::unique_ptr<Program> start(const std::string& script,
                                 const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {"--exclusive", "x"};
    all.insert(all.end(), options.begin(), options.end());
    if (std::find(all.begin(), all.end(), "--wait") == all.end()) all.insert(all.end(), {"--wait", "60s"});
    all.insert(all.end(), {"--", "sh", "-c", script});
    return std::make_unique<Program>(lockstep_program(), arguments("lock", all));
  }
  /// The same, typed at a terminal.
  std::string typed(const std::string& script) const {
    return shell_line(lockstep_program(), arguments("lock", {"--exclusive", "x", "--", "sh", "-c", script})) +
           "\n";
  }
  static void wait_for_output(const Program& program, const std::string& text) {
    ASSERT_TRUE(wait_until([&] { return program.out().find(text) != std::string::npos; }, kPatience))
        << program.out() << program.err();
  }
  static std::optional<int> exit_code(Program& program) { return program.wait(kPatience); }

  std::string list() const { return lockstep("locks", {"list"}).out; }

  std::unique_ptr<Backend> backend_ = GetParam()();
  TemporaryFolder folder_;
  std::filesystem::path config_;
};

TEST_P(LockVerb, RunsACommandUnderTheLockWithAGrowingTokenAndItsExitCode) {
  const Completed first =
      lockstep("lock", {"--global", "--", "sh", "-c", "echo $LOCKSTEP_FENCING_TOKEN; exit 7"});
  EXPECT_EQ(first.exit_code, 7);
  EXPECT_EQ(first.err, "");
  const Completed second = lockstep("lock", {"--global", "--", "printenv", "LOCKSTEP_FENCING_TOKEN"});
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_GT(std::stoll(second.out), std::stoll(first.out));
  EXPECT_EQ(list(), "");
}

TEST_P(LockVerb, TakesTheCommandsOwnOptionsAndItsInput) {
  const Completed with_options =
      lockstep("lock", {"--document", "1", "2", "--", "printf", "%s|", "--global", "-c", "--", "a b"});
  EXPECT_EQ(with_options.exit_code, 0) << with_options.err;
  EXPECT_EQ(with_options.out, "--global|-c|--|a b|");
  const Completed without_dashes =
      lockstep("lock", {"--global", "--wait", "1s", "printf", "%s|", "-c", "check"});
  EXPECT_EQ(without_dashes.out, "-c|check|") << without_dashes.err;
}

TEST_P(LockVerb, SaysByWhomAndUntilWhenALockIsHeldAndDoesNotRunTheCommand) {
  const auto holder = start("echo in; sleep 300", {});
  wait_for_output(*holder, "in");
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--exclusive", "x"}, {"--shared", "x"}, {"--document", "w", "x"}}) {
    std::vector<std::string> all = options;
    all.insert(all.end(), {"--wait", "100ms", "--", "touch", (folder_.path() / "ran").string()});
    const Completed refused = lockstep("lock", all);
    EXPECT_EQ(refused.exit_code, 4);
    EXPECT_THAT(refused.err,
                MatchesRegex("lockstep: x is locked exclusively by [^ ]+-" + std::to_string(holder->pid()) +
                             "-[0-9a-f]+ until 20[^ ]*Z \\([0-9.]+ s from now\\)\n"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "ran"));
  EXPECT_EQ(lockstep("lock", {"--document", "w", "--", "true"}).exit_code, 0)
      << "nothing of the refused set is left";
}

TEST_P(LockVerb, WaitsUntilTheLockIsFree) {
  const auto holder = start("echo in; sleep 300");
  wait_for_output(*holder, "in");
  const auto waiter = start("echo my turn", {"--wait", "60s"});
  ASSERT_TRUE(wait_until([&] { return list().find("pending") != std::string::npos; }, kPatience));
  holder->signal(SIGTERM);
  EXPECT_EQ(exit_code(*holder), kTerminated);
  EXPECT_EQ(exit_code(*waiter), 0) << waiter->err();
  EXPECT_EQ(waiter->out(), "my turn\n");
}

TEST_P(LockVerb, SharedLocksAreHeldTogetherAndTreesOverlapAtTheirAncestors) {
  const auto hold = [&](const std::vector<std::string>& what) {
    std::vector<std::string> all = what;
    all.insert(all.end(), {"--", "sh", "-c", "echo in; sleep 300"});
    return std::make_unique<Program>(lockstep_program(), arguments("lock", all));
  };
  const auto one = hold({"--shared", "s"});
  const auto two = hold({"--shared", "s"});
  const auto file = hold({"--tree", "/clinton/a.txt", "/clinton/b.txt"});
  for (const auto* program : {&one, &two, &file}) wait_for_output(**program, "in");
  EXPECT_EQ(lockstep("lock", {"--exclusive", "s", "--", "true"}).exit_code, 4);
  EXPECT_EQ(lockstep("lock", {"--tree", "/clinton", "/hillary", "--", "true"}).exit_code, 4);
  EXPECT_EQ(lockstep("lock", {"--tree", "/clinton/c.txt", "--", "true"}).exit_code, 0);
}

TEST_P(LockVerb, ALongCommandKeepsItsLockByRenewingTheLease) {
  configure("3s");
  const auto holder = start("echo in; sleep 7; echo done");
  wait_for_output(*holder, "in");
  EXPECT_EQ(lockstep("lock", {"--exclusive", "x", "--wait", "5s", "--", "true"}).exit_code, 4);
  EXPECT_EQ(exit_code(*holder), 0) << holder->err();
  EXPECT_EQ(holder->out(), "in\ndone\n");
}

TEST_P(LockVerb, PassesSignalsOnAndReturnsWhatTheCommandMakesOfThem) {
  const auto command = start(
      "trap 'echo usr1' USR1; trap 'echo alrm' ALRM; trap 'echo term; exit 9' TERM; echo in; while :; do "
      "sleep 0.05; done");
  wait_for_output(*command, "in");
  command->signal(SIGUSR1);
  wait_for_output(*command, "usr1");
  command->signal(SIGALRM);
  wait_for_output(*command, "alrm");
  command->signal(SIGTERM);
  EXPECT_EQ(exit_code(*command), 9);
  wait_for_output(*command, "term");
  EXPECT_EQ(list(), "");
}

TEST_P(LockVerb, ACommandThatASignalEndsGives128AndTheSignal) {
  EXPECT_EQ(lockstep("lock", {"--global", "--", "sh", "-c", "kill -KILL $$"}).exit_code, 137);
  EXPECT_EQ(list(), "");
}

TEST_P(LockVerb, ASignalEndsTheWaitingToo) {
  const auto holder = start("echo in; sleep 300");
  wait_for_output(*holder, "in");
  const auto waiter = start("echo never", {"--wait", "10m"});
  ASSERT_TRUE(wait_until([&] { return list().find("pending") != std::string::npos; }, kPatience));
  waiter->signal(SIGINT);
  EXPECT_EQ(exit_code(*waiter), 128 + SIGINT);
  EXPECT_EQ(waiter->out(), "");
  EXPECT_EQ(list().find("pending"), std::string::npos);
}

TEST_P(LockVerb, ACommandThatCannotBeStartedFreesTheLockAndHasAShellsExitCode) {
  const Completed failed = lockstep("lock", {"--global", "--", "/no/such/command"});
  EXPECT_EQ(failed.exit_code, 127);
  EXPECT_THAT(failed.err, HasSubstr("starting /no/such/command: No such file or directory"));
  EXPECT_EQ(lockstep("lock", {"--global", "--", config_.string()}).exit_code, 126);
  EXPECT_EQ(lockstep("lock", {"--global", "--", "true"}).exit_code, 0);
}

TEST_P(LockVerb, SeveralNamesAreLockedAndARefusalHasTheExitCodeThatIsAskedFor) {
  EXPECT_EQ(lockstep("lock", {"--exclusive", "a", "b", "--", "echo", "in"}).out, "in\n");
  const auto holder = start("echo in; sleep 300", {"y"});
  wait_for_output(*holder, "in");
  EXPECT_EQ(lockstep("lock", {"-E", "75", "--exclusive", "a", "y", "--", "true"}).exit_code, 75);
  EXPECT_EQ(lockstep("lock", {"--shared", "y", "--conflict-exit-code", "0", "--", "false"}).exit_code, 0);
  const auto waiter = start("echo my turn", {"--wait", "forever"});
  ASSERT_TRUE(wait_until([&] { return list().find("pending") != std::string::npos; }, kPatience));
  holder->signal(SIGTERM);
  EXPECT_EQ(exit_code(*waiter), 0) << waiter->err();
}

TEST_P(LockVerb, TheCommandMayHaveAnyBytesAndTheLockAnyLength) {
  EXPECT_EQ(
      lockstep("lock", {"--global", "--", "printf", "\xff\xfe" + std::string(198, 'x') + "ü"}).exit_code, 0);
  const std::string path = "/" + std::string(3'000, 'x');
  const Completed completed = lockstep("lock", {"--tree", path + "/a", path + "/b", "--", "true"});
  EXPECT_EQ(completed.exit_code, 0) << completed.err;
  const auto holder = start("echo in; sleep 300", {path});
  wait_for_output(*holder, "in");
  EXPECT_EQ(lockstep("lock", {"--exclusive", path, "--", "true"}).exit_code, 4);
  EXPECT_EQ(lockstep("lock", {"--exclusive", path + "y", "--", "true"}).exit_code, 0);
}

TEST_P(LockVerb, ACommandUnderALockHandsItDownToTheCommandsThatItRuns) {
  const auto nested = [&](const std::string& name, const std::string& script) {
    return shell_line(lockstep_program(), arguments("lock", {"--exclusive", name, "--", "sh", "-c", script}));
  };
  const Completed done =
      lockstep("lock", {"--exclusive", "x", "--", "sh", "-c",
                        nested("x", nested("x", "echo deep") + " && echo $LOCKSTEP_LOCK | wc -w") + " && " +
                            nested("y", "echo other") + " && LOCKSTEP_LOCK='=5 = x y=1' " +
                            nested("x", "echo never")});
  EXPECT_EQ(done.out, "deep\n2\nother\n") << done.err;
  EXPECT_EQ(done.exit_code, 4) << "what proves nothing is kept out";
  EXPECT_THAT(done.err, HasSubstr("x is locked exclusively by "));
  EXPECT_EQ(list(), "");
}

TEST_P(LockVerb, AnyProgramHoldsALockByAPipe) {
  const std::string hold = shell_line(lockstep_program(), arguments("lock", {"--exclusive", "x", "--hold"}));
  const std::string other =
      shell_line(lockstep_program(), arguments("lock", {"--exclusive", "x", "--", "true"}));
  const Completed done = run_program(
      "bash",
      {"-c", "coproc HELD { " + hold + "; }; read -r json <&${HELD[0]}; echo \"$json\"; " + other +
                 "; echo $?; eval \"exec ${HELD[1]}>&-\"; wait $HELD_PID; echo $?; " + other + "; echo $?"});
  const std::size_t end = done.out.find('\n');
  EXPECT_GT(nlohmann::json::parse(done.out.substr(0, end)).at("token"), 1'500'000'000'000) << done.out;
  EXPECT_EQ(done.out.substr(end), "\n4\n0\n0\n") << done.err;
  configure("3s");
  const auto holder = std::make_unique<Program>("sh", std::vector<std::string>{"-c", "sleep 30 | " + hold});
  wait_for_output(*holder, "}");
  EXPECT_EQ(lockstep("locks", {"break", "x", "--yes"}).exit_code, 0);
  EXPECT_TRUE(wait_until([&] { return holder->err().find("its lock was broken by ") != std::string::npos; },
                         kPatience));
}

// With its input closed it waited for a descriptor of its own, for ever; without a reader SIGPIPE ended it,
// and the lock was held until its lease ran out.
TEST_P(LockVerb, WhoHoldsALockWithoutInputOrWithoutAReaderGivesItBackAtOnce) {
  const std::string hold = shell_line(lockstep_program(), arguments("lock", {"--exclusive", "x", "--hold"}));
  const Completed no_input = run_program("bash", {"-c", hold + " <&-"});
  EXPECT_EQ(no_input.exit_code, 0) << no_input.err;
  EXPECT_EQ(list(), "");
  const std::string alone = "exec <&- >&- 2>&-; sleep 9)";  // whatever else waits for it to end
  for (const std::string& output : {"> >(" + alone, std::string("> /dev/full"), std::string(">&-")}) {
    const Completed unread = run_program("bash", {"-c", hold + " < <(" + alone + " " + output});
    EXPECT_EQ(unread.exit_code, 1) << output << unread.err;
    EXPECT_THAT(unread.err, HasSubstr("standard output does not take it"));
    EXPECT_EQ(list(), "") << output;
  }
}

TEST_P(LockVerb, WhoOnlyLooksMakesNothing) {
  EXPECT_EQ(list(), "");
  EXPECT_EQ(lockstep("locks", {"show", "x"}).err, "x is not locked\n");
  EXPECT_EQ(lockstep("locks", {"break", "x", "--yes"}).err, "x is not locked\n");
  EXPECT_FALSE(backend_->is_prepared());
  EXPECT_EQ(lockstep("locks", {"prepare"}).exit_code, 0);
  EXPECT_TRUE(backend_->is_prepared());
  EXPECT_EQ(list(), "");
}

TEST_P(LockVerb, OutputThatCannotBeWrittenIsAFailure) {
  const auto holder = start("echo in; sleep 300");
  wait_for_output(*holder, "in");
  const Completed full = run_program(
      "sh", {"-c", "exec \"$0\" locks list -c \"$1\" > /dev/full", lockstep_program(), config_.string()});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("standard output does not take it"));
}

// Reported: it read from a connection of ours.
TEST_P(LockVerb, ACommandWithoutAnInputReadsNothingElse) {
  const std::string cat =
      shell_line(lockstep_program(), arguments("lock", {"--exclusive", "x", "--", "cat"}));
  const Completed command = run_program("sh", {"-c", cat + " <&-"});
  EXPECT_EQ(command.exit_code, 1);
  EXPECT_THAT(command.err, HasSubstr("Bad file descriptor"));
}

// Reported: it wrote on for 9 s after lockstep had returned.
TEST_P(LockVerb, NoProcessOfTheCommandOutlivesItsLock) {
  const std::string file = (folder_.path() / "child").string();
  const Completed left = lockstep(
      "lock", {"--global", "--", "sh", "-c",
               "setsid sh -c 'trap \"\" TERM; echo $$ > " + file + "; exec sleep 300' & while [ ! -s " +
                   file + " ]; do sleep 0.05; done; cat " + file + "; exit 5"});
  EXPECT_EQ(left.exit_code, 5) << left.err;
  EXPECT_NE(::kill(std::stoi(left.out), 0), 0) << "it is ended before lockstep returns";
}

// Reported: after kill -9 of lockstep a grandchild wrote on beside the next holder.
TEST_P(LockVerb, WhoIsKilledTakesAllAlongThatItsCommandHasStarted) {
  configure("5s");
  const auto killed =
      start("setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 300' & trap '' TERM; sleep 300; sleep 300");
  wait_for_output(*killed, "\n");
  const pid_t grandchild = std::stoi(killed->out());
  EXPECT_EQ(::kill(grandchild, 0), 0);
  killed->signal(SIGKILL);
  EXPECT_EQ(lockstep("lock", {"--exclusive", "x", "--wait", "60s", "--", "true"}).exit_code, 0);
  EXPECT_NE(::kill(grandchild, 0), 0) << "it has ended when the next one has the lock";
}

TEST_P(LockVerb, ABrokenLockEndsTheCommandAndAllThatItHasStarted) {
  configure("3s");
  const auto holder = start(
      "trap '' TERM; (trap '' TERM; while :; do sleep 0.1; done) & echo child $!; echo in; wait; while :; do "
      "sleep 1; done");
  wait_for_output(*holder, "in");
  const pid_t grandchild = std::stoi(holder->out().substr(6));
  EXPECT_EQ(lockstep("locks", {"break", "x"}).exit_code, 2) << "it asks, and there is no terminal";
  const Completed broken = lockstep("locks", {"break", "x", "--yes"});
  EXPECT_EQ(broken.exit_code, 0);
  EXPECT_EQ(broken.err, "x is free\n");
  EXPECT_EQ(exit_code(*holder), 1);
  EXPECT_THAT(holder->err(), HasSubstr("its lock was broken by "));
  EXPECT_THAT(holder->err(), HasSubstr("; the command was ended; "));
  EXPECT_TRUE(wait_until([&] { return ::kill(grandchild, 0) != 0; }, kPatience));
  EXPECT_EQ(lockstep("locks", {"break", "x", "--yes"}).err, "x is not locked\n");
}

TEST_P(LockVerb, ACommandEndsWhenItsLeaseCannotBeRenewedInTime) {
  TcpProxy proxy(backend_->server());
  configure("4s", {"127.0.0.1", proxy.port()});
  const std::filesystem::path ended = folder_.path() / "ended";
  const auto holder =
      start("trap 'touch " + ended.string() + "; exit' TERM; echo in; while :; do sleep 0.05; done");
  wait_for_output(*holder, "in");
  const auto begin = std::chrono::steady_clock::now();
  proxy.stall();
  EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(ended); }, kPatience));
  // Whoever waits may get the lock four seconds after the last renewal, not earlier.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5'500));
  EXPECT_EQ(exit_code(*holder), 1);
  EXPECT_THAT(holder->err(), HasSubstr("lockstep: holding the lock: "));
  EXPECT_THAT(holder->err(), Not(HasSubstr("could not be released"))) << "what is lost is not given back";
  EXPECT_THAT(holder->err(), HasSubstr("; the command was ended; "));
  proxy.heal();
}

TEST_P(LockVerb, WhoIsStoppedForLongerThanItsLeaseIsDeposedAndItsTokenIsOld) {
  configure("3s");
  const auto zombie = start(
      "echo $LOCKSTEP_FENCING_TOKEN; trap '' TERM; setsid sleep 300 & echo $! in; while :; do sleep 0.1; "
      "done");
  wait_for_output(*zombie, "in");
  zombie->signal(SIGSTOP);
  const Completed next =
      lockstep("lock", {"--exclusive", "x", "--wait", "60s", "--", "printenv", "LOCKSTEP_FENCING_TOKEN"});
  ASSERT_EQ(next.exit_code, 0) << next.err;
  EXPECT_NE(::kill(std::stoi(zombie->out().substr(zombie->out().find('\n'))), 0), 0)
      << "what it has started has ended when the next one has the lock";
  EXPECT_GT(std::stoll(next.out), std::stoll(zombie->out()));
  zombie->signal(SIGCONT);
  EXPECT_EQ(exit_code(*zombie), 1);
  EXPECT_THAT(zombie->err(), HasSubstr("holding the lock: "));
  EXPECT_EQ(list(), "");
}

TEST_P(LockVerb, WhoIsKilledTakesItsCommandAlongAndLosesTheLockWithItsLease) {
  configure("3s");
  const auto killed = start("trap 'touch " + (folder_.path() / "told").string() +
                            "; exit' TERM; echo in; while :; do sleep 0.05; done");
  wait_for_output(*killed, "in");
  killed->signal(SIGKILL);
  EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(folder_.path() / "told"); }, kPatience));
  EXPECT_EQ(lockstep("lock", {"--exclusive", "x", "--wait", "60s", "--", "true"}).exit_code, 0);
  EXPECT_EQ(list(), "");
}

// The shell computes the sum, so that the output differs from the input.
TEST_P(LockVerb, CtrlZStopsTheCommandAndFgLetsItGoOnUnderItsLock) {
  Terminal terminal;
  terminal.type(typed("echo $((40 + 2)) locked; read word; echo $((40 + 3)) $word"));
  ASSERT_TRUE(terminal.shows("42 locked", kPatience)) << terminal.screen();
  terminal.type(kCtrlZ);
  ASSERT_TRUE(terminal.shows("Stopped", kPatience)) << terminal.screen();
  EXPECT_NE(list(), "") << "it is stopped, not ended";
  terminal.type("fg\n");
  terminal.type("on\n");
  ASSERT_TRUE(terminal.shows("43 on", kPatience)) << terminal.screen();
  terminal.type("echo it ended with $?.\n");
  EXPECT_TRUE(terminal.shows("it ended with 0.", kPatience)) << terminal.screen();
  EXPECT_EQ(list(), "");
}

// The shell starts nothing where it is stopped: while it does (vfork), the kernel cannot stop it.
TEST_P(LockVerb, WhoIsStoppedAtATerminalForLongerThanTheLeaseHasLostTheLock) {
  configure("3s");
  Terminal terminal;
  const std::filesystem::path daemon = folder_.path() / "daemon";
  terminal.type(typed("setsid sleep 60 & echo $! > " + daemon.string() +
                      "; echo $((40 + 2)) locked; read word; echo $((40 + 3)) went on"));
  ASSERT_TRUE(terminal.shows("42 locked", kPatience)) << terminal.screen();
  terminal.type(kCtrlZ);
  ASSERT_TRUE(terminal.shows("Stopped", kPatience)) << terminal.screen();
  EXPECT_EQ(lockstep("lock", {"--exclusive", "x", "--wait", "60s", "--", "true"}).exit_code, 0);
  std::ifstream file(daemon);
  pid_t started = 0;
  ASSERT_TRUE(file >> started);
  EXPECT_NE(::kill(started, 0), 0) << "Ctrl-Z does not stop it, but the end of the lease ends it";
  terminal.type("fg\n");
  terminal.type("echo it ended with $?.\n");
  EXPECT_TRUE(terminal.shows("it ended with 1.", kPatience)) << terminal.screen();
  EXPECT_THAT(terminal.screen(), Not(HasSubstr("43 went on")));
}

TEST_P(LockVerb, CtrlCEndsTheCommandAndFreesTheLock) {
  Terminal terminal;
  terminal.type(typed("echo $((40 + 2)) locked; sleep 60"));
  ASSERT_TRUE(terminal.shows("42 locked", kPatience)) << terminal.screen();
  terminal.type(kCtrlC);
  terminal.type("echo it ended with $?.\n");
  EXPECT_TRUE(terminal.shows("it ended with 130.", kPatience)) << terminal.screen();
  EXPECT_EQ(list(), "");
}

TEST_P(LockVerb, ListAndShowSayWhoHoldsWhatAndForWhat) {
  EXPECT_EQ(lockstep("locks", {"list"}).err, "nothing is locked\n");
  const auto holder = start("echo in; sleep 300");
  wait_for_output(*holder, "in");
  const std::string id = "[^ ]+-" + std::to_string(holder->pid()) + "-[0-9a-f]+";
  const std::string until = "until 20[^ ]*Z \\(in [0-9.]+ s\\)\n";
  const std::string both = "x  exclusive  " + id + "  " + until + "\n?" + id +
                           "  lock sh -c echo in; sleep 300  running, token [0-9]+  " + until;
  EXPECT_THAT(list(), MatchesRegex(both));
  EXPECT_THAT(lockstep("locks", {"show", "x"}).out, MatchesRegex(both));
  const std::string json = lockstep("locks", {"list", "--json"}).out;
  const nlohmann::json line = nlohmann::json::parse(json.substr(0, json.find('\n')));
  EXPECT_EQ(line.at("name"), "x");
  EXPECT_EQ(line.at("mode"), "exclusive");
  const Completed missing = lockstep("locks", {"show", "y"});
  EXPECT_EQ(missing.exit_code, 0);
  EXPECT_EQ(missing.err, "y is not locked\n");
}

TEST_P(LockVerb, WrongUsageIsSaidBeforeAnythingIsAsked) {
  configure("10s", kNowhere);
  const auto usage = [&](const std::vector<std::string>& options) {
    const Completed completed = lockstep("lock", options);
    EXPECT_EQ(completed.exit_code, 2) << completed.err;
    return completed.err;
  };
  EXPECT_THAT(usage({"--", "true"}), HasSubstr("choose a lock"));
  EXPECT_THAT(usage({"--global", "--exclusive", "x", "--", "true"}), HasSubstr("excludes"));
  EXPECT_THAT(usage({"--global"}), HasSubstr("COMMAND"));
  EXPECT_THAT(usage({"--global", "--hold", "--", "true"}), HasSubstr("--hold runs no COMMAND"));
  EXPECT_THAT(usage({"--global", "--wait", "long", "--", "true"}), HasSubstr("\"long\" is not a duration"));
  EXPECT_THAT(usage({"-E", "256", "--global", "--wait", "5", "--", "true"}),
              HasSubstr("\"256\" is no exit code"))
      << "5 are seconds, as for flock";
  EXPECT_THAT(usage({"--exclusive", "--hold"}), HasSubstr("--exclusive: the name of a lock is missing"));
  EXPECT_THAT(usage({"--exclusive", "-n", "--", "true"}), HasSubstr("unknown option -n"));
  EXPECT_THAT(usage({"--tree", "clinton", "--", "true"}), HasSubstr("does not begin with \"/\""));
  EXPECT_THAT(usage({"--exclusive", "a\nb", "--", "true"}), HasSubstr("has control characters"));
  EXPECT_THAT(usage({"-E", "256", "--global", "--", "true"}), HasSubstr("\"256\" is no exit code"));
  EXPECT_EQ(lockstep("locks", {}).exit_code, 2);
}

TEST_P(LockVerb, AServerThatIsAwayIsAFailure) {
  configure("10s", kNowhere);
  const Completed away = lockstep("lock", {"--global", "--", "true"});
  EXPECT_EQ(away.exit_code, 1);
  EXPECT_THAT(away.err, StartsWith("lockstep: " + backend_->first_request() + ": "));
}

// Reported: --wait did not cover an engine that was away or slow.
TEST_P(LockVerb, AServerThatIsAwayIsWaitedForAsLongAsWaitSays) {
  TcpProxy proxy(backend_->server());
  configure("10s", {"127.0.0.1", proxy.port()});
  proxy.refuse();
  const auto waiter = start("echo in");
  const Completed vain = lockstep("lock", {"--exclusive", "y", "--wait", "300ms", "--", "true"});
  EXPECT_EQ(vain.exit_code, 1);
  EXPECT_THAT(vain.err, HasSubstr(" (tried again for 300ms)"));
  EXPECT_TRUE(waiter->running());
  proxy.heal();
  EXPECT_EQ(exit_code(*waiter), 0) << waiter->err();
  EXPECT_EQ(waiter->out(), "in\n");
}

TEST_P(LockVerb, ASignalEndsTheWaitingForAServerToo) {
  configure("10s", kNowhere);
  const auto waiter = start("echo never", {"--wait", "forever"});
  ASSERT_TRUE(wait_until([&] { return catches(waiter->pid(), SIGTERM); }, kPatience));
  waiter->signal(SIGTERM);
  EXPECT_EQ(exit_code(*waiter), kTerminated);
}

TEST_P(LockVerb, WhenItsSecondProcessIsKilledItSaysSo) {
  const Completed killed =
      lockstep("lock", {"--global", "--wait", "60s", "--", "sh", "-c", "kill -KILL $PPID; sleep 300"});
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL);
  EXPECT_THAT(killed.err, HasSubstr("was killed (by signal 9), so the command was ended"));
  EXPECT_EQ(list(), "");
}

TEST_P(LockVerb, ANameThatBeginsWithADashIsWrittenBehindAnEqualsSign) {
  const Completed done =
      lockstep("lock", {"--document=-n", "--wait", "60", "--", "printenv", "LOCKSTEP_LOCK"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const Completed held = run_program(
      "sh", {"-c", shell_line(lockstep_program(), arguments("lock", {"--exclusive", "x", "--hold"})) +
                       " < /dev/null"});
  EXPECT_EQ(held.exit_code, 0) << "an option behind a name is an option: " << held.err;
}

// Reported: the command had a socket to the server.
TEST_P(LockVerb, TheCommandHasNoSocketOfLocksteps) {
  const Completed done = lockstep("lock", {"--global", "--wait", "60s", "--", "ls", "-l", "/proc/self/fd"});
  EXPECT_THAT(done.out, HasSubstr("/proc/")) << done.err;
  EXPECT_THAT(done.out, Not(HasSubstr("socket:")));
}

class LocksInElasticsearch : public LockVerb {
 protected:
  ElasticsearchServer server_;
  std::string index() const { return static_cast<const ElasticsearchBackend&>(*backend_).index(); }
};

// Reported: a renewal made the index again, without its mapping, and everybody failed from then on.
TEST_P(LocksInElasticsearch, AnIndexThatIsDeletedWhileItIsUsedCostsTheHoldersTheirLocksAndNothingElse) {
  configure("6s");
  for (const char* end : {"-locks", "-journal"}) {
    const auto holder = start("echo in; sleep 300");
    wait_for_output(*holder, "in");
    server_.expect("DELETE", "/" + index() + end);
    EXPECT_EQ(exit_code(*holder), 1) << "a lock that has vanished ends the command";
    EXPECT_THAT(holder->err(), HasSubstr("holding the lock: the "));
    const Completed next = lockstep("lock", {"--exclusive", "x", "--wait", "60s", "--", "true"});
    EXPECT_EQ(next.exit_code, 0) << next.err;
    const nlohmann::json made = server_.expect("GET", "/" + index() + end + "/_mapping");
    EXPECT_EQ(made.at(index() + end).at("mappings").at("dynamic"), "false") << made;
  }
}

// Reported: the indices came back empty and without a mapping, every command failed, and the advice was to
// choose another name, which splits the clients.
TEST_P(LocksInElasticsearch, ATemplateAndIndicesThatAreDeletedWhileALockIsHeldJamNobody) {
  configure("6s");
  const auto holder = start("echo in; sleep 300");
  wait_for_output(*holder, "in");
  server_.expect("DELETE", "/_index_template/" + index() + "-locks");
  server_.expect("DELETE", "/" + index() + "-locks," + index() + "-journal");
  EXPECT_EQ(exit_code(*holder), 1);
  EXPECT_THAT(holder->err(), HasSubstr("is gone, or has lost its mapping: it was deleted"));

  // As a client that looks at nothing before it writes leaves them.
  for (const char* end : {"-locks", "-journal"}) server_.expect("PUT", "/" + index() + end);
  const Completed listed = lockstep("locks", {"list"});
  EXPECT_EQ(listed.exit_code, 1);
  EXPECT_THAT(listed.err, HasSubstr("without its mapping; `lockstep locks prepare` makes it again"));
  const Completed next = lockstep("lock", {"--exclusive", "x", "--", "true"});
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(lockstep("locks", {"list"}).err, "nothing is locked\n");
}

TEST_P(LocksInElasticsearch, ALockThatSomebodyElseHasNamedStrangelyIsListedAndHidesNoOther) {
  const auto holder = start("echo in; sleep 300");
  wait_for_output(*holder, "in");
  server_.expect("PUT", "/" + index() + "-locks/_doc/a%0Ab%1B", R"({"process_id": 123})");
  server_.expect("PUT", "/" + index() + "-locks/_doc/odd", R"({"lock_type": "sideways"})");
  const Completed listed = lockstep("locks", {"list"});
  EXPECT_EQ(listed.exit_code, 1);
  EXPECT_THAT(listed.out, HasSubstr("a b  exclusive  123  without a lease\n"));
  EXPECT_THAT(listed.out, HasSubstr("\nx  exclusive  "));
  EXPECT_THAT(listed.err, HasSubstr("the lock odd: its type is \"sideways\""));
  EXPECT_EQ(lockstep("locks", {"break", "a\nb\x1B", "--yes"}).exit_code, 0);
  EXPECT_THAT(lockstep("locks", {"list"}).out, Not(HasSubstr("a b")));
}

INSTANTIATE_TEST_SUITE_P(Server, LocksInElasticsearch,
                         testing::Values<MakeBackend>([]() -> std::unique_ptr<Backend> {
                           return std::make_unique<ElasticsearchBackend>();
                         }));
INSTANTIATE_TEST_SUITE_P(Elasticsearch, LockVerb,
                         testing::Values<MakeBackend>([]() -> std::unique_ptr<Backend> {
                           return std::make_unique<ElasticsearchBackend>();
                         }));
INSTANTIATE_TEST_SUITE_P(Postgresql, LockVerb, testing::Values<MakeBackend>([]() -> std::unique_ptr<Backend> {
                           return std::make_unique<PostgresBackend>();
                         }));

TEST(LockVerbUsage, LocksInPostgresqlNeedASource) {
  const TemporaryFolder folder;
  const auto config = folder.write("locks.toml", "[locks]\nbackend = \"postgresql\"\n");
  const Completed completed =
      run_program(lockstep_program(), {"lock", "-c", config.string(), "--global", "--", "true"});
  EXPECT_EQ(completed.exit_code, 2);
  EXPECT_THAT(completed.err, HasSubstr("[source] has no \"url\", and the locks are kept there; add url = "));
}

}  // namespace
}  // namespace lockstep::support
