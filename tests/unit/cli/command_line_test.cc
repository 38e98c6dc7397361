#include "replicator/cli/command_line.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "replicator/cli/verb.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::internal::CaptureStderr;
using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStderr;
using testing::internal::GetCapturedStdout;

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome lockstep(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "lockstep");
  CaptureStdout();
  CaptureStderr();
  const int code = run_command_line(static_cast<int>(arguments.size()), arguments.data());
  return {code, GetCapturedStdout(), GetCapturedStderr()};
}

TEST(CommandLineTest, EveryCommandsHelpShowsAnExampleOfIt) {
  for (const auto& verb : all_verbs()) {
    const Outcome help = lockstep({verb->name(), "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Example:\n  lockstep " + std::string(verb->name())));
    EXPECT_EQ(help.err, "");
  }
}

TEST(CommandLineTest, HelpAndVersionAreCommandsToo) {
  EXPECT_EQ(lockstep({"help"}).out, lockstep({"--help"}).out);
  EXPECT_EQ(lockstep({"help", "status"}).out, lockstep({"status", "--help"}).out);
  EXPECT_EQ(lockstep({"help", "dead-letters", "list"}).out, lockstep({"dead-letters", "list", "--help"}).out);
  EXPECT_EQ(lockstep({"help", "deadletters"}).out, lockstep({"dead-letters", "--help"}).out);
  const std::vector<std::vector<const char*>> mistyped = {
      {"help", "sttus"}, {"sttus", "--help"}, {"sttus", "-h"}, {"-c", "x", "help", "sttus"}};
  for (const std::vector<const char*>& arguments : mistyped) {
    const Outcome unknown = lockstep(arguments);
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("did you mean \"status\"?"));
  }
  for (const char* version : {"version", "-v", "-V"}) {
    EXPECT_EQ(lockstep({version}).out, lockstep({"--version"}).out);
    EXPECT_EQ(lockstep({version}).code, 0);
  }
}

TEST(CommandLineTest, TheHelpHasNoWordsOfTheLibrary) {
  const std::string help = lockstep({"init", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("Arguments:\n"));
  EXPECT_THAT(help, HasSubstr("(required)"));
  EXPECT_THAT(help, HasSubstr("\n  DIR (required) "));
  for (const char* word : {"Positionals", "REQUIRED", "Excludes", "TEXT", "Env:"})
    EXPECT_THAT(help, Not(HasSubstr(word)));
}

TEST(CommandLineTest, ExcludedOptionsAreInTheOrderOfTheirNames) {
  EXPECT_THAT(lockstep({"lock", "--help"}).out,
              HasSubstr("--global (not with --document, --exclusive, --shared, --tree)"));
}

TEST(CommandLineTest, WhatIsWrongWithTheCommandLineIsSaidInOurWords) {
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"status", "-c"}, "-c needs a value: -c FILE; see lockstep status --help"},
           {{"status", "--config"}, "--config needs a value: --config FILE; see lockstep status --help"},
           {{"status", "--json=often"}, "--json takes no value; see lockstep status --help"},
           {{"status", "-c", "a", "-c", "b"}, "--config may be given once; see lockstep status --help"},
           {{"status", "shop"}, "\"shop\" is an argument too many; see lockstep status --help"},
           {{"status", "-z"}, "unknown option -z; see lockstep status --help"},
           {{"init", "--view", "v"}, "DIR is missing; see lockstep init --help"},
           {{"tree", "mv", "/a"}, "TO is missing; see lockstep tree mv --help"},
           {{"tree", "mvv"}, "unknown command \"mvv\"; did you mean \"mv\"?; see lockstep tree --help"},
           {{"tree", "-c", "mv", "rmm"},
            "unknown command \"rmm\"; did you mean \"rm\"?; see lockstep tree --help"},
           {{"-c", "status"}, "there is no command; see lockstep --help"}}) {
    const Outcome outcome = lockstep(arguments);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_EQ(outcome.err, "lockstep: " + message + "\n");
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(CommandLineTest, TheConfigurationMayStandBeforeTheCommand) {
  for (const std::vector<const char*>& arguments :
       std::vector<std::vector<const char*>>{{"-c", "/no/such/file.toml", "status"},
                                             {"--config", "/no/such/file.toml", "status"},
                                             {"--config=/no/such/file.toml", "status"},
                                             {"-c/no/such/file.toml", "deadletters", "list"},
                                             {"-c", "/no/such/file.toml", "tree", "ls"}}) {
    const Outcome outcome = lockstep(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("the configuration /no/such/file.toml cannot be read"));
  }
  EXPECT_EQ(lockstep({"-c", "x", "help", "status"}).out, lockstep({"status", "--help"}).out);
  EXPECT_EQ(lockstep({"-c", "x", "help"}).out, lockstep({"--help"}).out);
  EXPECT_EQ(lockstep({"-c", "x", "--help"}).out, lockstep({"--help"}).out);
}

TEST(CommandLineTest, AWrongConfigurationIsPlainTextForAServiceToo) {
  for (const char* verb : {"run", "up", "status"})
    EXPECT_THAT(lockstep({verb, "-c", "/no/such/file.toml"}).err,
                testing::StartsWith("lockstep: the configuration /no/such/file.toml cannot be read"))
        << verb;
}

TEST(CommandLineTest, ACommandOfOtherProgramsIsAnsweredWithOurs) {
  EXPECT_THAT(lockstep({"rm"}).err, HasSubstr("unknown command \"rm\"; did you mean \"remove\"?"));
  EXPECT_THAT(lockstep({"logs"}).err, HasSubstr("journalctl -u lockstep"));
  EXPECT_EQ(lockstep({"logs"}).code, 2);
}

TEST(CommandLineTest, AMistypedOptionIsAnsweredWithTheNearest) {
  const Outcome outcome = lockstep({"init", "--wiht", "customers"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "lockstep: unknown option --wiht; did you mean --with?; see lockstep init --help\n");
  EXPECT_THAT(
      lockstep({"dead-letters", "list", "--indxe=posts"}).err,
      HasSubstr("unknown option --indxe; did you mean --index?; see lockstep dead-letters list --help"));
}

TEST(CommandLineTest, TheHelpListsTheCommands) {
  const Outcome help = lockstep({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const auto& verb : all_verbs()) EXPECT_THAT(help.out, HasSubstr(verb->summary()));
}

// What `run` logs of a source that has no pipeline.
std::string logged_by_run(const std::string& format) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("log_format_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "posts.json") << R"({"mappings": {}})";
  std::ofstream(folder / "shop.db").flush();
  const std::filesystem::path file = folder / "shop.toml";
  std::ofstream(file) << "[source]\nurl = \"sqlite:" << (folder / "shop.db").string() << "\"\n[log]\n"
                      << format
                      << "\n[[index]]\nalias = \"posts\"\nmapping = \"posts.json\"\nview = \"posts\"\n"
                      << "[[index.track]]\ntable = \"post\"\n";
  const Outcome run = lockstep({"run", "--until-caught-up", "-c", file.c_str()});
  std::filesystem::remove_all(folder);
  EXPECT_NE(run.code, 0);
  EXPECT_EQ(run.out, "");
  return run.err.substr(0, run.err.find('\n'));
}

TEST(CommandLineTest, TheLogIsTextOrJsonAsTheConfigurationSays) {
  for (const char* format : {"format = \"json\"", "format = \"auto\"", ""}) {
    const auto line = nlohmann::json::parse(logged_by_run(format), nullptr, false);
    EXPECT_TRUE(line.is_object() && line.contains("message") && line.value("pipeline", "") == "lockstep")
        << format;
  }
  EXPECT_THAT(logged_by_run("format = \"text\""),
              testing::MatchesRegex("..:..:..\\.... (error|warn|info) .*"));
}

TEST(CommandLineTest, TheVersionIsDataAndSaysCommitAndLibraries) {
  const char* arguments[] = {"lockstep", "--version"};
  CaptureStdout();
  EXPECT_EQ(run_command_line(2, arguments, {"0123456789ab", "fmt 9.1.0"}), 0);
  EXPECT_THAT(GetCapturedStdout(),
              testing::MatchesRegex(
                  "lockstep " LOCKSTEP_VERSION " \\(commit 0123456789ab\\)\n"
                  "with libcurl/[^\n]*OpenSSL[^\n]*, libpq [0-9.]+, libpqxx [0-9.]+, SQLite [0-9.]+\n"
                  "built with fmt 9.1.0\n"));
  EXPECT_THAT(lockstep({"--version"}).out, testing::StartsWith("lockstep " LOCKSTEP_VERSION "\n"));
}

TEST(CommandLineTest, AManPageForTheProgramAndForEachCommand) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lockstep-man";
  EXPECT_EQ(lockstep({"--man-pages", folder.c_str()}).code, 0);
  for (const auto& verb : all_verbs()) {
    const std::string name = std::string("lockstep-") + verb->name();
    std::ifstream file(folder / (name + ".1"));
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(page, HasSubstr(verb->summary())) << name;
  }
  std::ifstream file(folder / "lockstep-tree.1");
  const std::string tree{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(tree, HasSubstr("\\fB\\-c\\fR, \\fB\\-\\-config\\fR \\fIFILE\\fR\n"));
  EXPECT_THAT(tree, HasSubstr(".SS mv\n"));
  EXPECT_THAT(tree, HasSubstr("lockstep tree ls \\-r /hillary\n"));
  std::filesystem::remove_all(folder);
}

TEST(CommandLineTest, AFolderForManPagesThatIsAFileIsWrongUsage) {
  const Outcome outcome = lockstep({"--man-pages", "/dev/null"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("cannot make the folder /dev/null: "));
}

TEST(CommandLineTest, AFullDiskBelowWhatIsPrintedIsAFailure) {
  for (const std::vector<const char*>& arguments : std::vector<std::vector<const char*>>{
           {"lockstep", "--version"}, {"lockstep", "--help"}, {"lockstep", "--completion", "bash"}}) {
    std::fflush(stdout);
    const int before = ::dup(STDOUT_FILENO);
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ::dup2(full, STDOUT_FILENO);
    CaptureStderr();
    const int code = run_command_line(static_cast<int>(arguments.size()), arguments.data());
    const std::string said = GetCapturedStderr();
    ::dup2(before, STDOUT_FILENO);
    ::close(full);
    ::close(before);
    std::cout.clear();
    EXPECT_EQ(code, 1) << arguments[1];
    EXPECT_THAT(said, HasSubstr("standard output does not take it")) << arguments[1];
  }
}

TEST(CommandLineTest, CompletionsKnowTheCommandsBelowACommandAndTheirOptions) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome script = lockstep({"--completion", shell});
    EXPECT_EQ(script.code, 0);
    for (const char* word : {"dead-letters", "discard", "until-caught-up"})
      EXPECT_THAT(script.out, HasSubstr(word)) << shell;
  }
  const Outcome unknown = lockstep({"--completion", "tcsh"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("bash, zsh and fish"));
}

TEST(CommandLineTest, WithoutACommandTheHelpIsAnError) {
  const Outcome nothing = lockstep({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.out, "");
  for (const VerbGroup& group : verb_groups())
    EXPECT_THAT(nothing.err, HasSubstr("\n" + std::string(group.name) + ":\n"));
}

TEST(CommandLineTest, AMistypedCommandNamesTheNearest) {
  const Outcome mistyped = lockstep({"stauts"});
  EXPECT_EQ(mistyped.code, 2);
  EXPECT_EQ(mistyped.err,
            "lockstep: unknown command \"stauts\"; did you mean \"status\"?; see lockstep --help\n");
}

TEST(CommandLineTest, AFormerNameGoesOnWorkingAndNoHelpShowsIt) {
  EXPECT_EQ(lockstep({"--help"}).out.find("deadletters"), std::string::npos);
  const Outcome present = lockstep({"dead-letters", "--help"});
  EXPECT_EQ(present.code, 0);
  EXPECT_THAT(present.out, HasSubstr("lockstep dead-letters"));
  EXPECT_EQ(lockstep({"deadletters", "--help"}).out, present.out);
  EXPECT_EQ(lockstep({"deadletters", "-c", "/no/such/file.toml", "list"}).err,
            lockstep({"dead-letters", "-c", "/no/such/file.toml", "list"}).err);
  EXPECT_THAT(lockstep({"deadletters", "--bogus"}).err, HasSubstr("--bogus"));
}

TEST(CommandLineTest, InitNamesWhatIsWrongBeforeItConnects) {
  const std::string unwritten = testing::TempDir() + "unwritten";
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"--view", "v"}, "--source is required"},
           {{"--source", "postgresql:///x"},
            "give --view NAME, --table NAME, --from-pgsync FILE or --from-logstash FILE"},
           {{"--source", "postgresql:///x", "--view", "s.v", "--table", "s.t"}, "excludes"},
           {{"--source", "mysql://x", "--view", "s.v"}, "--source: "},
           {{"--source", "postgresql:///x?password=secret", "--view", "s.v"}, "take the password out"},
           {{"--source", "postgresql:///x", "--view", "s.v", "--elasticsearch", "x"}, "--elasticsearch: "},
           {{"--source", "postgresql:///x", "--view", "s.v", "--alias", "A/B"}, "--alias: "},
           {{"--source", "sqlite:/x.db", "--view", "s.v"}, "there is no file /x.db"}}) {
    std::vector<const char*> all{"init"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.push_back(unwritten.c_str());
    const Outcome outcome = lockstep(all);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(unwritten));
  }
}

TEST(CommandLineTest, AListMayHaveSpacesBehindItsCommas) {
  const std::string unwritten = testing::TempDir() + "unwritten";
  const Outcome outcome = lockstep(
      {"init", "--source", "sqlite:/x.db", "--table", "t", "--with", "a,", "b,", "c", unwritten.c_str()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("there is no file /x.db"));
}

TEST(CommandLineTest, WhatDeletesNeedsYesWithoutATerminal) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lockstep-cli-yes";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "posts.json") << "{}";
  const std::string file = (folder / "lockstep.toml").string();
  std::ofstream(file) << "[source]\nurl = \"sqlite:posts.db\"\n[[index]]\nalias = \"posts\"\nmapping = "
                         "\"posts.json\"\nview = \"posts\"\n[[index.track]]\ntable = \"posts\"\n";
  for (const std::vector<const char*>& arguments : std::vector<std::vector<const char*>>{
           {"remove"}, {"reindex", "--finish"}, {"adopt", "posts", "--delete-surplus"}}) {
    std::vector<const char*> all = arguments;
    all.insert(all.end(), {"-c", file.c_str()});
    const Outcome outcome = lockstep(all);
    EXPECT_EQ(outcome.code, 2) << arguments[0];
    EXPECT_THAT(outcome.err, HasSubstr("and there is no terminal to ask on; give --yes")) << arguments[0];
    all.push_back("--yes");
    EXPECT_THAT(lockstep(all).err, HasSubstr("lockstep creates no database")) << arguments[0];
  }
  std::filesystem::remove_all(folder);
}

TEST(CommandLineTest, ADurationIsWrittenWithItsUnit) {
  const Outcome outcome = lockstep({"wait", "-c", "/no/such/file.toml", "--timeout", "soon"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "lockstep: --timeout: \"soon\" is not a duration; write 500ms, 30s, 30 (seconds) or 5m\n");
}

TEST(CommandLineTest, ANumberWithoutAUnitIsSecondsInEveryDuration) {
  for (const std::vector<const char*>& arguments :
       std::vector<std::vector<const char*>>{{"wait", "-c", "/no/such/file.toml", "--timeout", "5"},
                                             {"reindex", "-c", "/no/such/file.toml", "--keep", "30"}}) {
    const Outcome outcome = lockstep(arguments);
    EXPECT_THAT(outcome.err, HasSubstr("/no/such/file.toml")) << arguments[0];
    EXPECT_THAT(outcome.err, Not(HasSubstr("is not a duration"))) << arguments[0];
  }
}

TEST(CommandLineTest, NamesOfOtherProgramsLeadToTheOnesHere) {
  for (const auto& [arguments, hint] : std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"watch"}, "did you mean \"status --watch\"?"},
           {{"repair"}, "did you mean \"verify --repair\"?"},
           {{"stop"}, "systemctl stop lockstep"},
           {{"restart"}, "systemctl restart lockstep"},
           {{"apply", "--dry-run"}, "did you mean `lockstep plan`?"},
           {{"verify", "--fix"}, "did you mean --repair?"},
           {{"status", "-w"}, "did you mean --watch?"}}) {
    const Outcome outcome = lockstep(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments[0];
    EXPECT_THAT(outcome.err, HasSubstr(hint)) << arguments[0];
  }
}

TEST(CommandLineTest, HelpOfHelpIsTheHelp) {
  EXPECT_EQ(lockstep({"help", "help"}).out, lockstep({"--help"}).out);
  EXPECT_EQ(lockstep({"help", "help"}).code, 0);
}

TEST(CommandLineTest, AFileOfAnOptionStartsAtTheWorkingFolder) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lockstep-cli-as-file";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "posts.json") << "{}";
  const std::string file = (folder / "lockstep.toml").string();
  std::ofstream(file) << "[source]\nurl = \"postgresql://me@/shop\"\n[[index]]\nalias = \"posts\"\nmapping = "
                         "\"posts.json\"\nview = \"s.posts\"\n[[index.track]]\ntable = \"s.posts\"\n";
  const Outcome outcome = lockstep({"apply", "-c", file.c_str(), "--as-file", "nope"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--as-file: nope cannot be read"));
  EXPECT_THAT(outcome.err, HasSubstr("a relative path starts at the working folder"));
  std::filesystem::remove(folder / "posts.json");
  EXPECT_THAT(lockstep({"apply", "-c", file.c_str()}).err,
              HasSubstr("a relative path starts at the folder of the configuration file"));
  std::filesystem::remove_all(folder);
}

TEST(CommandLineTest, AnUnknownOptionIsWrongUsage) {
  const Outcome unknown = lockstep({"plan", "--bogus"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--bogus"));
}

TEST(CommandLineTest, AWrongConfigurationIsWrongUsageForEveryCommand) {
  for (const auto& verb : all_verbs()) {
    if (verb->name() == std::string("init")) continue;  // it takes none, and writes one
    std::vector<const char*> arguments = {verb->name(), "-c", "/no/such/file.toml"};
    if (verb->name() == std::string("adopt")) arguments.push_back("posts");  // it needs an alias
    const Outcome missing = lockstep(arguments);
    EXPECT_EQ(missing.code, 2) << verb->name();
    EXPECT_THAT(missing.err, HasSubstr("/no/such/file.toml")) << verb->name();
    EXPECT_EQ(missing.out, "") << verb->name();
  }
}

TEST(CommandLineTest, AnEmptyNameOfAConfigurationIsNamed) {
  const Outcome outcome = lockstep({"check", "-c", ""});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the configuration has an empty name; name a file with -c"));
}

TEST(CommandLineTest, TheConfigurationComesFromTheEnvironmentToo) {
  ::setenv("LOCKSTEP_CONFIG", "/from/the/environment.toml", 1);
  EXPECT_THAT(lockstep({"status"}).err, HasSubstr("/from/the/environment.toml"));
  EXPECT_THAT(lockstep({"status", "-c", "/from/the/option.toml"}).err, HasSubstr("/from/the/option.toml"));
  ::unsetenv("LOCKSTEP_CONFIG");
  EXPECT_THAT(lockstep({"status"}).err, HasSubstr("/etc/lockstep/lockstep.toml"));
}

// In a folder of its own, with the file lockstep.toml.
class ConfigurationHere : public testing::Test {
 protected:
  ConfigurationHere() {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
    std::ofstream("lockstep.toml") << "nonsense = 1\n";
  }
  ~ConfigurationHere() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  const std::filesystem::path before_ = std::filesystem::current_path();
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("lockstep_here_" + std::to_string(::getpid()));
};

TEST_F(ConfigurationHere, IsReadBeforeThatOfTheMachine) {
  for (const char* verb : {"status", "locks", "print-config"})
    EXPECT_THAT(lockstep({verb}).err, HasSubstr("./lockstep.toml:1: unknown key \"nonsense\"")) << verb;
  EXPECT_THAT(lockstep({"status", "-c", "/from/the/option.toml"}).err, HasSubstr("/from/the/option.toml"));
}

TEST_F(ConfigurationHere, OfAnotherUserIsRefusedUntilItIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown("lockstep.toml", 65534, 65534), 0);
  const Outcome outcome = lockstep({"status"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "lockstep: ./lockstep.toml belongs to another user; if it is the right one, name it: "
            "-c ./lockstep.toml\n");
  EXPECT_THAT(lockstep({"status", "-c", "./lockstep.toml"}).err, HasSubstr("unknown key"));
}

TEST(CommandLineTest, NoVerbCreatesASqliteFile) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lockstep-cli-sqlite";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "posts.json") << "{}";
  const std::string file = (folder / "lockstep.toml").string();
  std::ofstream(file) << "[source]\nurl = \"sqlite:posts.db\"\n[[index]]\nalias = \"posts\"\nmapping = "
                         "\"posts.json\"\nview = \"posts\"\n[[index.track]]\ntable = \"posts\"\n";
  for (const char* verb : {"check", "plan", "apply", "run", "status"}) {
    const Outcome outcome = lockstep({verb, "-c", file.c_str()});
    EXPECT_EQ(outcome.code, 2) << verb;
    EXPECT_THAT(outcome.err, HasSubstr("lockstep creates no database")) << verb;
  }
  EXPECT_EQ(lockstep({"print-config", "-c", file.c_str()}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "posts.db"));
  std::filesystem::remove_all(folder);
}

TEST(CommandLineTest, TheSampleIsPrintedAsData) {
  const Outcome sample = lockstep({"print-config", "--sample"});
  EXPECT_EQ(sample.code, 0);
  EXPECT_THAT(sample.out, HasSubstr("[[index.track]]"));
  EXPECT_EQ(sample.err, "");
}

}  // namespace
}  // namespace lockstep
