// `lockstep tree` as users call it, and what it leaves when it is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tests/support/elasticsearch_index.h"
#include "tests/support/eventually.h"
#include "tests/support/program.h"
#include "tests/support/recording_proxy.h"
#include "tests/support/servers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/terminal.h"

namespace lockstep::support {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr seconds kPatience{60};

class TreeVerb : public testing::Test {
 protected:
  TreeVerb() { configure("tree", "60s"); }

  void configure(const std::string& locking, const std::string& lease) {
    locking_ = locking;
    lease_ = lease;
    config_ = write_config("tree.toml", elasticsearch_url());
  }
  std::filesystem::path write_config(const std::string& name, const std::string& url) const {
    return folder_.write(name, "[elasticsearch]\nurls = [\"" + url + "\"]\n[locks]\nindex = \"" +
                                   index_.alias() + "-locks\"\nlease = \"" + lease_ +
                                   "\"\n[tree]\nindex = \"" + fs() + "\"\nlocking = \"" + locking_ + "\"\n");
  }
  std::string fs() const { return index_.alias() + "-fs"; }

  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"tree", "-c", config_.string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Completed tree(const std::vector<std::string>& more) const {
    return run_program(lockstep_program(), arguments(more));
  }
  Completed put(const std::string& path, const std::string& contents) const {
    const std::filesystem::path file = folder_.path() / "contents";
    folder_.write("contents", contents);
    return run_program("sh", {"-c", "exec \"$0\" tree put -c \"$1\" \"$2\" < \"$3\"", lockstep_program(),
                              config_.string(), path, file.string()});
  }
  void done(const std::vector<std::string>& more) const {
    const Completed completed = tree(more);
    EXPECT_EQ(completed.exit_code, 0) << completed.err;
    EXPECT_EQ(completed.out + completed.err, "");
  }
  void make_index() const {
    EXPECT_EQ(put("/made", "").exit_code, 0);
    done({"rm", "/made"});
  }
  std::string list(const std::vector<std::string>& more = {"-r"}) const {
    std::vector<std::string> all = {"ls"};
    all.insert(all.end(), more.begin(), more.end());
    const Completed completed = tree(all);
    EXPECT_EQ(completed.exit_code, 0) << completed.err;
    return completed.out;
  }
  std::string locked() const {
    return run_program(lockstep_program(), {"locks", "list", "-c", config_.string()}).out;
  }

  /// `count` documents below a directory.
  void fill(const std::string& directory, int count) const {
    std::string body;
    for (int i = 1; i <= count; ++i) {
      body += "{\"index\":{\"_id\":\"" + std::to_string(i) + "\"}}\n{\"path\":\"" + directory + "/d" +
              std::to_string(i % 5) + "\",\"name\":\"f" + std::to_string(i) + "\"}\n";
    }
    index_.server().expect("POST", "/" + fs() + "/_bulk?refresh=true", body);
  }
  std::int64_t count_below(const std::string& directory) const {
    index_.server().expect("POST", "/" + fs() + "/_refresh");
    return index_.server()
        .expect("POST", "/" + fs() + "/_count", R"({"query": {"prefix": {"path": ")" + directory + R"(/"}}})")
        .at("count");
  }

  /// Runs `lockstep tree …` through a proxy until the nth request to a target with `part` comes, and kills it
  /// before that request is passed on.
  void kill_at(const std::vector<std::string>& more, const std::string& part, int nth) {
    RecordingProxy proxy;
    std::mutex mutex;
    std::condition_variable changed;
    bool there = false;
    proxy.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
      const std::lock_guard lock(mutex);
      if (request.target().find(part) != std::string::npos) --nth;
      if (nth > 0) return std::nullopt;
      there = true;
      changed.notify_all();
      return Disturbance{.lose_request = true};
    });
    const std::filesystem::path own = config_;
    config_ = write_config("killed.toml", proxy.url());
    {
      Program program(lockstep_program(), arguments(more));
      std::unique_lock lock(mutex);
      EXPECT_TRUE(changed.wait_for(lock, kPatience, [&] { return there; })) << program.err();
      program.kill();
    }
    config_ = own;
  }

  ElasticsearchIndex index_{"treeverb"};
  TemporaryFolder folder_;
  std::filesystem::path config_;
  std::string locking_;
  std::string lease_;
};

TEST_F(TreeVerb, AServerThatIsAwayIsWaitedForAsLongAsWaitSays) {
  config_ = write_config("away.toml", "http://127.0.0.1:1");
  const Completed waited = tree({"mkdir", "/a", "--wait", "300ms"});
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_THAT(waited.err, HasSubstr(" (tried again for 300ms)"));
  const Completed at_once = tree({"mkdir", "/a"});
  EXPECT_EQ(at_once.exit_code, 1);
  EXPECT_THAT(at_once.err, testing::Not(HasSubstr("tried again")));
}

TEST_F(TreeVerb, FilesAndDirectoriesArePutListedMovedAndRemoved) {
  EXPECT_EQ(list({}), "");
  EXPECT_EQ(put("/clinton/projects/README.txt", "Starting a new Elasticsearch project\n").exit_code, 0);
  EXPECT_EQ(put("/clinton/notes.txt", "notes").exit_code, 0);
  EXPECT_EQ(list({}), "clinton/\n");
  EXPECT_EQ(list({"/clinton"}), "notes.txt\nprojects/\n");
  EXPECT_EQ(list(), "/clinton/notes.txt\n/clinton/projects/README.txt\n");
  done({"mv", "/clinton/projects/README.txt", "/clinton/projects/README.asciidoc"});
  done({"mv", "/clinton", "/hillary"});
  EXPECT_EQ(list(), "/hillary/notes.txt\n/hillary/projects/README.asciidoc\n");
  done({"mv", "/hillary/notes.txt", "/hillary/projects/"});
  EXPECT_EQ(list({"-r", "/hillary"}), "/hillary/projects/README.asciidoc\n/hillary/projects/notes.txt\n");
  done({"rm", "/hillary/projects/notes.txt"});
  done({"rm", "/hillary", "--wait", "1s"});
  EXPECT_EQ(list(), "");
  EXPECT_EQ(locked(), "");
}

TEST_F(TreeVerb, WhatAFileSystemRefusesIsAFailureThatSaysWhatToDo) {
  EXPECT_EQ(put("/a/f", "x").exit_code, 0);
  EXPECT_EQ(put("/b/g", "x").exit_code, 0);
  const auto fails = [&](const std::vector<std::string>& more) {
    const Completed completed = tree(more);
    EXPECT_EQ(completed.exit_code, 1);
    return completed.err;
  };
  EXPECT_EQ(fails({"mv", "/x", "/y"}),
            "lockstep: moving /x to /y: /x does not exist; `lockstep tree ls` lists the tree\n");
  EXPECT_EQ(fails({"mv", "/a", "/b"}),
            "lockstep: moving /a to /b: /b exists; choose another name, or remove it first\n");
  EXPECT_EQ(fails({"mv", "/a", "/a/b"}),
            "lockstep: moving /a to /a/b: /a/b lies in the directory itself; choose a path outside of it\n");
  EXPECT_EQ(fails({"mv", "/a/f", "/b/g/"}),
            "lockstep: moving /a/f to /b/g/f: /b/g is a file, not a directory; choose another directory\n");
  EXPECT_EQ(put("/a", "x").err, "lockstep: writing /a: /a is a directory; name a file\n");
  EXPECT_THAT(fails({"rm", "/x"}), HasSubstr("/x does not exist"));
  EXPECT_THAT(fails({"ls", "/x"}), HasSubstr("/x does not exist"));
  EXPECT_EQ(list(), "/a/f\n/b/g\n");
}

// Reported: `tree put /f <&-` and `tree put /f < /` emptied the file, with exit code 0.
TEST_F(TreeVerb, AnInputThatCannotBeReadChangesNothing) {
  EXPECT_EQ(put("/f", "kept").exit_code, 0);
  const std::string command = lockstep_program() + " tree put -c " + config_.string() + " /f ";
  for (const std::string input : {"<&-", "< /"}) {
    const Completed refused = run_program("sh", {"-c", command + input});
    EXPECT_EQ(refused.exit_code, 1) << input;
    EXPECT_THAT(refused.err, HasSubstr("lockstep: reading standard input: ")) << input;
  }
  EXPECT_EQ(tree({"cat", "/f"}).out, "kept");
}

TEST_F(TreeVerb, WrongUsageIsSaidBeforeAnythingIsAsked) {
  config_ = write_config("tree.toml", "http://127.0.0.1:1");
  const auto usage = [&](const std::vector<std::string>& more) {
    const Completed completed = tree(more);
    EXPECT_EQ(completed.exit_code, 2) << completed.err;
    return completed.err;
  };
  EXPECT_THAT(usage({}), HasSubstr("name a command: mv, rm, put, mkdir, cp, cat, grep, ls or recover"));
  EXPECT_THAT(usage({"mv", "a", "/b"}), HasSubstr("does not begin with \"/\""));
  EXPECT_THAT(usage({"mv", "/a", "//b"}), HasSubstr("has the segment"));
  EXPECT_THAT(usage({"rm", "/a/../b"}), HasSubstr("has the segment"));
  EXPECT_THAT(usage({"rm", "/" + std::string(300, 'x')}), HasSubstr("is longer than 255 bytes"));
  EXPECT_THAT(usage({"rm", ""}), HasSubstr("does not begin with \"/\""));
  EXPECT_THAT(usage({"mv", "/", "/b"}), HasSubstr("the root cannot be moved"));
  EXPECT_THAT(usage({"mv", "/a"}), HasSubstr("TO is missing"));
  EXPECT_THAT(usage({"rm", "/a", "--wait", "long"}), HasSubstr("\"long\" is not a duration"));
  EXPECT_EQ(put("/a/", "x").exit_code, 2);
}

TEST_F(TreeVerb, ALockThatIsNotToBeHadIsFour) {
  EXPECT_EQ(put("/a/f", "x").exit_code, 0);
  Program holder(lockstep_program(),
                 {"lock", "-c", config_.string(), "--tree", "/a", "--", "sh", "-c", "echo in; sleep 300"});
  ASSERT_TRUE(wait_until([&] { return holder.out() == "in\n"; }, kPatience)) << holder.err();
  const Completed refused = tree({"mv", "/a/f", "/b", "--wait", "100ms"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, MatchesRegex("lockstep: /a is locked exclusively by .*" +
                                        std::to_string(holder.pid()) + ".* from now\\)\n"));
  EXPECT_EQ(list(), "/a/f\n");
  EXPECT_EQ(tree({"recover"}).err, "operations whose lease still runs: 1\n")
      << "nothing that it leaves is silent";

  Program waiter(lockstep_program(), arguments({"rm", "/a", "--wait", "10m"}));
  ASSERT_TRUE(wait_until([&] { return locked().find("rm /a") != std::string::npos; }, kPatience));
  waiter.signal(SIGINT);
  EXPECT_EQ(waiter.wait(kPatience), 128 + SIGINT) << waiter.err();
  EXPECT_EQ(list(), "/a/f\n");
}

TEST_F(TreeVerb, ACommandUnderTheLockOfADirectoryChangesWhatIsInIt) {
  EXPECT_EQ(put("/a/f", "x").exit_code, 0);
  const auto command = [&](const std::vector<std::string>& more) {
    return shell_line(lockstep_program(), arguments(more));
  };
  const Completed changed =
      run_program(lockstep_program(), {"lock", "-c", config_.string(), "--tree", "/a", "--", "sh", "-c",
                                       "echo new | " + command({"put", "/a/g"}) + " && " +
                                           command({"mv", "/a/f", "/a/h"}) + " && " + command({"rm", "/a"})});
  EXPECT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_EQ(list(), "");
  EXPECT_EQ(locked(), "");
}

TEST_F(TreeVerb, AtATerminalALargeMoveSaysHowFarItIsAndLeavesACleanLine) {
  make_index();
  fill("/a", 10'000);
  Terminal terminal;
  terminal.type(shell_line(lockstep_program(), arguments({"mv", "/a", "/b"})) + "; echo it ended with $?.\n");
  EXPECT_TRUE(terminal.shows("[#", kPatience)) << terminal.screen();
  EXPECT_TRUE(terminal.shows(" of 10,0", kPatience)) << terminal.screen();
  EXPECT_TRUE(terminal.shows("\r\x1b[Kit ended with 0.", kPatience)) << terminal.screen();
}

TEST_F(TreeVerb, WhoIsKilledInTheMiddleOfItsWritesIsFinishedByRecover) {
  make_index();
  configure("document", "12s");
  fill("/a", 1'200);
  kill_at({"mv", "/a", "/b"}, "/" + fs() + "/_bulk", 2);
  EXPECT_GT(count_below("/a"), 0);
  EXPECT_GT(count_below("/b"), 0);
  EXPECT_THAT(locked(), HasSubstr("mv /a /b"));
  EXPECT_TRUE(wait_until([&] { return tree({"recover"}).exit_code == 0 && locked().empty(); }, kPatience));
  EXPECT_EQ(count_below("/a"), 0);
  EXPECT_EQ(count_below("/b"), 1'200);
  EXPECT_EQ(locked(), "");
}

TEST_F(TreeVerb, WhoIsKilledWhileTheServerMovesIsFinishedByTheNextOneInItsWay) {
  make_index();
  configure("tree", "6s");
  fill("/a", 2'500);
  kill_at({"mv", "/a", "/b"}, "/_tasks/", 1);
  EXPECT_THAT(locked(), HasSubstr("mv /a /b"));
  done({"mv", "/b/d1", "/c", "--wait", "60s"});
  EXPECT_EQ(count_below("/a"), 0);
  EXPECT_EQ(count_below("/b"), 2'000);
  EXPECT_EQ(count_below("/c") + count_below("/b"), 2'000) << "the 500 are in /c itself";
  EXPECT_EQ(locked(), "");
}

// A command under a lock cannot finish what it meets.
TEST_F(TreeVerb, WhoIsInTheWayOfACommandAndDeadIsNamedTogetherWithRecover) {
  make_index();
  configure("tree", "6s");
  fill("/a", 10);
  kill_at({"mv", "/a", "/b"}, "/" + fs() + "/_bulk", 1);
  std::string refusal;
  EXPECT_TRUE(wait_until(
      [&] {
        refusal =
            run_program(lockstep_program(), {"lock", "-c", config_.string(), "--tree", "/a", "--", "true"})
                .err;
        return refusal.find("recover") != std::string::npos;
      },
      kPatience))
      << refusal;
  EXPECT_THAT(refusal,
              HasSubstr(" died in the middle of a change of the tree: `lockstep tree recover` finishes it"));
}

TEST_F(TreeVerb, WhoIsKilledBeforeItsCommitHasChangedNothing) {
  make_index();
  configure("tree", "6s");
  fill("/a", 10);
  kill_at({"mv", "/a", "/b"}, "/" + fs() + "/_msearch", 1);
  EXPECT_NE(locked(), "");
  std::string told;
  EXPECT_TRUE(wait_until(
      [&] {
        told += tree({"recover"}).err;
        return locked().empty();
      },
      kPatience));
  EXPECT_THAT(told, HasSubstr("dead processes"));
  EXPECT_EQ(count_below("/a"), 10);
}

TEST_F(TreeVerb, RecoverWatchesUntilASignalComes) {
  make_index();
  configure("tree", "6s");
  Program watch(lockstep_program(), arguments({"recover", "--watch"}));
  fill("/a", 10);
  kill_at({"mv", "/a", "/b"}, "/" + fs() + "/_bulk", 1);
  EXPECT_TRUE(wait_until([&] { return count_below("/b") == 10; }, kPatience));
  // If its lease ends between two steps of one sweep, the sweep meets its locks first.
  EXPECT_TRUE(wait_until([&] { return watch.err().find("dead processes") != std::string::npos; }, kPatience));
  // One that cannot be read.
  index_.server().expect("PUT", "/" + index_.alias() + "-journal/_doc/odd?refresh=true",
                         R"({"kind": "mv", "state": "pending", "owner": "odd", "lease_until": 0})");
  EXPECT_TRUE(
      wait_until([&] { return watch.err().find("the operation odd") != std::string::npos; }, kPatience));
  kill_at({"mv", "/b", "/c"}, "/" + fs() + "/_bulk", 1);
  EXPECT_TRUE(wait_until([&] { return count_below("/c") == 10; }, kPatience))
      << "it keeps nobody from the others";
  EXPECT_EQ(tree({"recover"}).exit_code, 1);
  watch.signal(SIGTERM);
  EXPECT_EQ(watch.wait(kPatience), 0) << watch.err();
}

TEST_F(TreeVerb, DirectoriesAreMadeAndFilesCopiedPrintedAndSearched) {
  EXPECT_EQ(put("/clinton/notes.txt", "some text\n").exit_code, 0);
  done({"mkdir", "/hillary"});
  done({"cp", "/clinton/notes.txt", "/hillary/"});
  EXPECT_EQ(list(), "/hillary/\n/clinton/notes.txt\n/hillary/notes.txt\n");
  EXPECT_EQ(tree({"cat", "/hillary/notes.txt"}).out, "some text\n");
  EXPECT_EQ(tree({"grep", "some text", "/clinton"}).out, "/clinton/notes.txt\n");
  EXPECT_EQ(tree({"grep", "-r", "Text"}).out, "/clinton/notes.txt\n/hillary/notes.txt\n");
  const Completed nothing = tree({"grep", "other", "/clinton"});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_EQ(nothing.out + nothing.err, "");
  EXPECT_EQ(tree({"mkdir", "/hillary"}).exit_code, 1);
  EXPECT_EQ(tree({"grep", ""}).exit_code, 2);
}

TEST_F(TreeVerb, ACopyIsFinishedForWhoIsKilledAfterItsCommit) {
  make_index();
  configure("tree", "6s");
  EXPECT_EQ(put("/a", "contents").exit_code, 0);
  kill_at({"cp", "/a", "/b"}, "/" + fs() + "/_bulk", 1);
  EXPECT_THAT(locked(), HasSubstr("cp /a /b"));
  EXPECT_TRUE(wait_until([&] { return tree({"recover"}).exit_code == 0 && locked().empty(); }, kPatience));
  EXPECT_EQ(tree({"cat", "/b"}).out, "contents");
}

/// As Elasticsearch does when a disk is nearly full.
std::string block_of(const std::string& value) {
  return R"({"index.blocks.read_only_allow_delete": )" + value + "}";
}

TEST_F(TreeVerb, ATreeThatIsReadOnlyIsSaidAtOnceAndNothingIsBegun) {
  EXPECT_EQ(put("/m/1", "x").exit_code, 0);
  index_.server().expect("PUT", "/" + fs() + "/_settings", block_of("true"));
  using Words = std::vector<std::string>;
  for (const Words& change : {Words{"mv", "/m", "/n"}, Words{"rm", "/m", "--wait", "10m"},
                              Words{"mkdir", "/n"}, Words{"cp", "/m/1", "/m/2"}}) {
    const Completed refused = tree(change);
    EXPECT_EQ(refused.exit_code, 1) << change.front();
    EXPECT_THAT(refused.err,
                HasSubstr("is read-only: it has index.blocks.read_only_allow_delete; free disk"));
  }
  EXPECT_EQ(locked(), "");
  EXPECT_EQ(list(), "/m/1\n");
}

// Reported: `tree mv` and `tree recover` hung for minutes without a word when a disk was full.
TEST_F(TreeVerb, AMoveThatAFullDiskStopsSaysWhySoDoesRecoverAndBothEnd) {
  EXPECT_EQ(put("/m/1", "x").exit_code, 0);
  configure("tree", "6s");
  RecordingProxy proxy;
  std::atomic<bool> blocked = false;
  proxy.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    if (request.target().find("/" + fs() + "/_bulk") != std::string::npos && !blocked.exchange(true))
      index_.server().expect("PUT", "/" + fs() + "/_settings", block_of("true"));
    return std::nullopt;
  });
  Program move(lockstep_program(),
               {"tree", "-c", write_config("proxy.toml", proxy.url()).string(), "mv", "/m", "/n"});
  const auto said = [&] { return move.err().find("it is tried again") != std::string::npos; };
  ASSERT_TRUE(wait_until(said, kPatience)) << move.err();
  EXPECT_THAT(move.err(), HasSubstr("cluster_block_exception"));
  const auto listed = [&] { return locked().find("cluster_block_exception") != std::string::npos; };
  EXPECT_TRUE(wait_until(listed, kPatience)) << locked();
  move.signal(SIGTERM);
  EXPECT_EQ(move.wait(kPatience), 128 + SIGTERM);
  EXPECT_THAT(move.err(),
              MatchesRegex("(.|\n)*: interrupted while it could not continue: .*cluster_block_exception.*"
                           "; `lockstep tree recover` does the rest\n"));

  const std::string journal = "/" + index_.alias() + "-journal";
  index_.server().expect("POST", journal + "/_refresh");
  index_.server().expect("POST", journal + "/_update_by_query?refresh=true",
                         R"({"script": {"source": "ctx._source.lease_until = 1"}})");
  const Completed recovered = tree({"recover"});
  EXPECT_EQ(recovered.exit_code, 1);
  EXPECT_THAT(recovered.err, HasSubstr("is read-only: it has index.blocks.read_only_allow_delete"));
  index_.server().expect("PUT", "/" + fs() + "/_settings", block_of("null"));
  EXPECT_EQ(tree({"recover"}).err, "changes finished for dead processes: 1\n");
  EXPECT_EQ(list(), "/n/1\n");
  EXPECT_EQ(locked(), "");
}

TEST_F(TreeVerb, RecoverMakesNoIndexOfATree) {
  done({"recover"});
  EXPECT_EQ(index_.server().request("HEAD", "/" + fs()).status, 404);
}

// Reported: one document whose kind is an array failed the list of all others.
TEST_F(TreeVerb, ADocumentThatCannotBeReadIsNamedAndHidesNoOther) {
  make_index();
  put("/a", "some words");
  put("/c", "some words");
  index_.server().expect("PUT", "/" + fs() + "/_doc/odd?refresh=true",
                         R"({"path": "/", "name": "b", "kind": ["file"], "contents": "some words"})");
  const std::vector<std::vector<std::string>> commands = {{"ls", "-r", "/"}, {"grep", "words"}};
  for (const std::vector<std::string>& command : commands) {
    const Completed completed = tree(command);
    EXPECT_EQ(completed.exit_code, 1);
    EXPECT_EQ(completed.out, "/a\n/c\n");
    EXPECT_THAT(completed.err, HasSubstr("the document odd of " + fs() + ": its kind is [\"file\"]"));
  }
}

// Reported: `recover` gave up after one answer that took longer than a third of the lease.
TEST_F(TreeVerb, RecoverAsksAgainWhenAnAnswerTakesTooLong) {
  make_index();
  configure("tree", "6s");
  RecordingProxy proxy;
  std::atomic<int> searches = 0;
  proxy.disturb([&](const HttpMessage& request) -> std::optional<Disturbance> {
    if (request.target().find("-journal/_search") == std::string::npos || searches++ > 0) return std::nullopt;
    return Disturbance{.delay = milliseconds(2'300)};
  });
  config_ = write_config("proxy.toml", proxy.url());
  const Completed completed = tree({"recover"});
  EXPECT_EQ(completed.exit_code, 0) << completed.err;
  EXPECT_GT(searches, 1);
}

TEST_F(TreeVerb, EachCommandsHelpShowsAnExampleOfIt) {
  for (const std::string action : {"mv", "rm", "put", "mkdir", "cp", "cat", "grep", "ls", "recover"})
    EXPECT_THAT(tree({action, "--help"}).out, HasSubstr("Example:\n  lockstep tree " + action));
}

}  // namespace
}  // namespace lockstep::support
