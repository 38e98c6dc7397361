#include "replicator/source/postgres/catalog/node_tree.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(PostgresNodeTreeTest, ReadsRecordsListsAndAtoms) {
  const PostgresNode tree = parse_node_tree(
      "({QUERY :commandType 1 :utilityStmt <> :canSetTag true :rtable ({RANGETBLENTRY :alias {ALIAS "
      ":aliasname a :colnames <>} "
      ":rtekind 0 :relid 16400}) :cols (b 8 9) :empty ()})");
  ASSERT_EQ(tree.kind, PostgresNode::Kind::kList);
  const PostgresNode& query = tree.items.at(0);
  EXPECT_TRUE(query.is("QUERY"));
  EXPECT_EQ(query.number("commandType", 0), 1);
  EXPECT_EQ(query.field("utilityStmt"), nullptr);
  EXPECT_EQ(query.field("missing"), nullptr);
  EXPECT_EQ(query.number("missing", 7), 7);
  EXPECT_EQ(query.list("rtable").at(0).number("relid", 0), 16400);
  EXPECT_EQ(query.list("rtable").at(0).field("alias")->field("aliasname")->text, "a");
  EXPECT_EQ(query.list("cols").size(), 3u);
  EXPECT_TRUE(query.list("empty").empty());
  EXPECT_TRUE(query.list("missing").empty());
}

TEST(PostgresNodeTreeTest, TableOfAViewIsFoundInTheTreeOfPostgres13) {
  const PostgresNode tree = parse_node_tree("({QUERY :rtable ({RTE :rtekind 0 :relid 16400})})");
  EXPECT_TRUE(tree.items.at(0).list("rtable").at(0).is("RANGETBLENTRY"));
}

TEST(PostgresNodeTreeTest, LeavesTheBytesOfConstantsOut) {
  const PostgresNode tree =
      parse_node_tree("{CONST :constlen -1 :constvalue 8 [ 32 0 0 0 97 98 ] :location -1}");
  EXPECT_EQ(tree.number("constvalue", 0), 8);
  EXPECT_EQ(tree.number("location", 0), -1);
}

TEST(PostgresNodeTreeTest, NamesMayHoldAnything) {
  const PostgresNode tree =
      parse_node_tree(R"({T :a with\ space :b \<> :c "quoted \" \} text" :d :varattno :e \{\(\)\} :f 1})");
  EXPECT_EQ(tree.field("a")->text, "with space");
  ASSERT_NE(tree.field("b"), nullptr) << "a text, not null";
  EXPECT_EQ(tree.field("b")->text, "<>");
  EXPECT_EQ(tree.field("c")->text, "quoted \" } text");
  EXPECT_EQ(tree.field("d")->text, ":varattno");
  EXPECT_EQ(tree.field("e")->text, "{()}");
  EXPECT_EQ(tree.number("f", 0), 1);
}

TEST(PostgresNodeTreeTest, RefusesWhatIsNone) {
  for (const char* text : {"", "{", "(", "{A :b", "{A b}", "(1 2", "{A :b 1} 2", "\"open", "{A :b }"}) {
    EXPECT_THROW(parse_node_tree(text), std::runtime_error) << text;
  }
}

}  // namespace
}  // namespace lockstep
