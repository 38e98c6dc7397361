#include "replicator/elasticsearch/admin/index_blocks.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::string refusal(const nlohmann::json& settings, Retry retry = Retry::kNever) {
  IndexState index;
  index.name = "fs-000001";
  index.settings = settings;
  try {
    require_writable("using fs", index, retry);
  } catch (const Error& error) {
    EXPECT_EQ(error.retryable(), retry == Retry::kLater);
    return error.what();
  }
  return "none";
}

TEST(IndexBlocksTest, ABlockOfWritesIsNamedWithWhatToDo) {
  EXPECT_EQ(
      refusal({{"index.blocks.read_only_allow_delete", "true"}}),
      "using fs: index fs-000001 is read-only: it has index.blocks.read_only_allow_delete; free disk space; "
      "the block then ends by itself, or set index.blocks.read_only_allow_delete to null");
  EXPECT_EQ(
      refusal({{"index.blocks.write", "true"}, {"index.blocks.read_only", "true"}}, Retry::kLater),
      "using fs: index fs-000001 is read-only: it has index.blocks.read_only and index.blocks.write; set "
      "index.blocks.read_only to null; set index.blocks.write to null");
}

TEST(IndexBlocksTest, AnIndexWithoutABlockOfWritesIsWritable) {
  EXPECT_EQ(refusal(nlohmann::json::object()), "none");
  EXPECT_EQ(refusal({{"index.blocks.write", "false"}, {"index.blocks.metadata", "true"}}), "none");
}

}  // namespace
}  // namespace lockstep
