// What the leader says of itself, in a folder where others may plant what they like.
#include "replicator/source/sqlite/watch/status_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>

#include "replicator/error.h"
#include "tests/unit/source/sqlite/application.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

class StatusFileTest : public testing::Test {
 protected:
  StatusFileTest() { std::ofstream(of_root_) << "precious"; }

  static SqliteReport report() {
    SqliteReport report;
    report.leader.state = "replicating";
    return report;
  }
  std::string state() const { return read_report(file_)->leader.state; }
  static std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string complaint() const {
    try {
      read_report(file_);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  const ApplicationFolder folder_;
  const std::filesystem::path file_ = folder_.file("app.db-lockstep-shop");
  const std::filesystem::path fresh_ = file_.string() + ".new";
  const std::filesystem::path of_root_ = folder_.file("of_root");
};

TEST_F(StatusFileTest, APlantedLinkIsReplacedAndNotFollowed) {
  for (const std::filesystem::path& planted : {fresh_, file_}) {
    std::filesystem::remove(planted);
    std::filesystem::create_symlink(of_root_, planted);
    write_report(file_, report());
    EXPECT_EQ(content_of(of_root_), "precious") << planted;
    EXPECT_EQ(state(), "replicating");
    EXPECT_FALSE(std::filesystem::is_symlink(std::filesystem::symlink_status(file_)));
  }
}

TEST_F(StatusFileTest, APlantedHardLinkIsReplacedAndNotWrittenInto) {
  std::filesystem::create_hard_link(of_root_, fresh_);
  write_report(file_, report());
  EXPECT_EQ(content_of(of_root_), "precious");
  EXPECT_EQ(state(), "replicating");
}

TEST_F(StatusFileTest, APlantedPipeKeepsNobodyFromPublishing) {
  for (const std::filesystem::path& planted : {fresh_, file_}) {
    std::filesystem::remove(planted);
    ASSERT_EQ(mkfifo(planted.c_str(), 0600), 0);
    write_report(file_, report());
    EXPECT_EQ(state(), "replicating") << planted;
  }
}

TEST_F(StatusFileTest, AFolderInTheWayIsNamed) {
  std::filesystem::create_directory(fresh_);
  try {
    write_report(file_, report());
    FAIL() << "it was written into a folder";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(fresh_.string()));
    EXPECT_THAT(error.what(), HasSubstr("remove the other one"));
  }
}

// Reported: with a full disk, the log advised to remove the file.
TEST_F(StatusFileTest, TheRemedyForAFullDiskIsNotToRemoveTheFile) {
  EXPECT_THAT(remedy_of_file_fault(ENOSPC), HasSubstr("free disk space"));
  EXPECT_THAT(remedy_of_file_fault(EDQUOT), HasSubstr("free disk space"));
  EXPECT_THAT(remedy_of_file_fault(EACCES), HasSubstr("rights"));
  EXPECT_THAT(remedy_of_file_fault(EEXIST), HasSubstr("remove the other one"));
}

TEST_F(StatusFileTest, WhoReadsFollowsNoLinkAndWaitsForNoPipe) {
  std::filesystem::create_symlink(of_root_, file_);
  EXPECT_THAT(complaint(), HasSubstr(file_.string()));
  std::filesystem::remove(file_);
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT(complaint(), HasSubstr("it is no regular file"));
}

TEST_F(StatusFileTest, NothingIsLeftWhenItIsRemoved) {
  write_report(file_, report());
  std::ofstream(fresh_) << "half of";
  remove_report(file_);
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_FALSE(std::filesystem::exists(fresh_));
  remove_report(file_);  // nobody has led
}

}  // namespace
}  // namespace lockstep
