// The race of the book ("Solving Concurrency Issues"): one client renames a directory, which changes the
// documents of all files below it, while another renames a file there. Without locks one of the renames is
// lost; under each scheme neither is.
#include <gmock/gmock.h>

#include <thread>

#include "tests/integration/tree_fixture.h"

namespace lockstep {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using Locking = TreeConfig::Locking;

constexpr seconds kWait{60};
constexpr int kFiles = 60;

class TreeRace : public TreeTest {
 protected:
  /// Files f1 … below /clinton.
  void fill_clinton() const {
    for (int i = 1; i <= kFiles; ++i)
      write(std::to_string(i), "/clinton/projects", "f" + std::to_string(i),
            {{"contents", "of " + std::to_string(i)}});
  }
};

TEST_F(TreeRace, WithoutLocksARenameIsLost) {
  fill_clinton();
  const auto as_read = stored();  // by the client that renames the directory
  json file = as_read.at("7").source;
  file["name"] = "renamed";
  server().expect("PUT", "/" + tree_index() + "/_doc/7", file.dump());
  for (const auto& [id, document] : as_read) {
    json moved = document.source;
    moved["path"] = "/hillary/projects";
    server().expect("PUT", "/" + tree_index() + "/_doc/" + id, moved.dump());
  }
  EXPECT_EQ(stored().at("7").path, "/hillary/projects/f7") << "acknowledged as renamed, and it is not";
}

class TreeRaceUnderLocks : public TreeRace, public testing::WithParamInterface<Locking> {};

INSTANTIATE_TEST_SUITE_P(Locking, TreeRaceUnderLocks,
                         testing::Values(Locking::kTree, Locking::kGlobal, Locking::kDocument), scheme_name);

TEST_P(TreeRaceUnderLocks, NoRenameIsLost) {
  const auto directories = open(GetParam());
  fill_clinton();
  // Renames f<i> to g<i>, wherever the directory is by now.
  const auto rename_files = [&](int first) {
    const auto files = open(GetParam());
    const std::vector<std::string> homes = {"/clinton", "/hillary"};
    for (int i = first; i <= kFiles; i += 2) {
      const std::string number = std::to_string(i);
      for (std::size_t home = 0;; ++home) {
        const std::string directory = homes[home % 2] + "/projects/";
        try {
          if (!files->tree->move(TreePath(directory + "f" + number), TreePath(directory + "g" + number),
                                 {.wait = kWait})) {
            break;
          }
        } catch (const TreeError& error) {
          ASSERT_EQ(error.kind(), TreeError::Kind::kNotFound) << error.what();
        }
      }
    }
  };
  std::jthread odd([&] { rename_files(1); });
  std::jthread even([&] { rename_files(2); });
  for (int i = 0; i < 6; ++i) {
    const bool there = i % 2 == 0;
    EXPECT_EQ(directories->tree->move(TreePath(there ? "/clinton" : "/hillary"),
                                      TreePath(there ? "/hillary" : "/clinton"), {.wait = kWait}),
              std::nullopt);
  }
  odd.join();
  even.join();
  const auto all = stored();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kFiles));
  for (const auto& [id, document] : all) {
    EXPECT_EQ(document.path, "/clinton/projects/g" + id);
    EXPECT_EQ(document.source.at("contents"), "of " + id);
  }
  expect_nothing_left(*directories);
}

TEST_P(TreeRaceUnderLocks, TwoDirectoriesNeverBecomeOne) {
  const auto one = open(GetParam());
  write("1", "/a", "f");
  write("2", "/b", "f");
  const auto move_to_c = [&](const std::string& from) {
    const auto client = open(GetParam());
    try {
      EXPECT_EQ(client->tree->move(TreePath(from), TreePath("/c"), {.wait = kWait}), std::nullopt);
      return 1;
    } catch (const TreeError& error) {
      EXPECT_EQ(error.kind(), TreeError::Kind::kExists);
      return 0;
    }
  };
  int moved_b = 0;
  std::jthread other([&] { moved_b = move_to_c("/b"); });
  const int moved_a = move_to_c("/a");
  other.join();
  EXPECT_EQ(moved_a + moved_b, 1);
  EXPECT_EQ(count_below("/c"), 1);
  expect_nothing_left(*one);
}

}  // namespace
}  // namespace lockstep
