#include "replicator/draft/files.h"

#include <gmock/gmock.h>

#include "tests/unit/draft/shop_graph.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

DraftPipeline shop() {
  return {"orders", "postgresql:///shop", false,           "http://localhost:9200",
          "orders", "orders.json",        "search.orders", {}};
}

TEST(DraftFilesTest, AConfigurationHasAllThatAPipelineNeeds) {
  DraftTracks tracks;
  tracks.tracks.push_back({"shop.orders", "", {}, {}});
  tracks.tracks.push_back({"shop.lines", "order_id", {}, {"shop.lines → shop.orders"}});
  EXPECT_EQ(draft_configuration(shop(), tracks, kPostgres),
            "# Written by lockstep init. docs/configuration.md and `lockstep print-config --sample` explain "
            "every key.\n"
            "pipeline = \"orders\"\n\n[source]\nurl = \"postgresql:///shop\"\n\n"
            "[elasticsearch]\nurls = [\"http://localhost:9200\"]\n\n"
            "[[index]]\nalias = \"orders\"\nmapping = \"orders.json\"\nview = \"search.orders\"\n\n"
            "# the documents themselves\n[[index.track]]\ntable = \"shop.orders\"\n\n"
            "# shop.lines → shop.orders\n[[index.track]]\ntable = \"shop.lines\"\nrow = \"order_id\"\n");
}

TEST(DraftFilesTest, APasswordComesFromTheEnvironment) {
  DraftPipeline pipeline = shop();
  pipeline.asks_for_password = true;
  EXPECT_THAT(draft_configuration(pipeline, {}, kPostgres), HasSubstr("password_env = \"PGPASSWORD\""));
}

TEST(DraftFilesTest, QueriesAreAUnionAndQuotedNamesNeedNoEscapes) {
  DraftTracks tracks;
  tracks.tracks.push_back({"shop.\"Tags\"", "", {"select 1", "select 2"}, {}});
  const std::string text = draft_configuration(shop(), tracks, kPostgres);
  EXPECT_THAT(text, HasSubstr("table = 'shop.\"Tags\"'\n"));
  EXPECT_THAT(text, HasSubstr("keys = '''\nselect 1\nunion\nselect 2\n'''\n"));
}

TEST(DraftFilesTest, ATableWithoutATrackIsACommentThatSaysWhatToWrite) {
  DraftTracks tracks;
  tracks.unknown.push_back({"shop.notes", "nothing leads from it"});
  const std::string text = draft_configuration(shop(), tracks, kPostgres);
  EXPECT_THAT(text, HasSubstr("# Not known: nothing leads from it."));
  EXPECT_THAT(text, HasSubstr("# table = \"shop.notes\""));
  EXPECT_THAT(text, Not(HasSubstr("\ntable = \"shop.notes\"")));
  tracks.unknown[0].every_document = "select t1.id\nfrom shop.orders as t1";
  EXPECT_THAT(draft_configuration(shop(), tracks, kPostgres),
              AllOf(HasSubstr("\n# keys = \"select t1.id from shop.orders as t1 where … = any($1)\"\n"),
                    HasSubstr("# Until then this finds every document"),
                    HasSubstr("\n# keys = \"select t1.id from shop.orders as t1\"\n")));
}

TEST(DraftFilesTest, StatementsMakeIndicesBesideWritersWhereTheServerCan) {
  TableGraph graph = shop_graph();
  graph["shop.orders"].partitioned = true;
  DraftTracks tracks;
  tracks.missing_indices = {{"shop.lines", {"maker", "number"}}, {"shop.orders", {"customer_id"}}};
  const std::string text = draft_statements("create view …;\n", graph, tracks, kPostgres);
  EXPECT_THAT(text, HasSubstr("create view …;\n"));
  EXPECT_THAT(text, HasSubstr("create index concurrently on shop.lines (maker, number);\n"));
  EXPECT_THAT(text, HasSubstr("create index on shop.orders (customer_id);\n"));
  EXPECT_EQ(draft_statements("", graph, {}, kPostgres), "");
}

TEST(DraftFilesTest, AnIndexOfSqliteHasANameAndBlobsTheirDigits) {
  TableGraph graph = shop_file();
  graph["lines"].columns[2].kind = ValueKind::kOpaque;
  DraftTracks tracks;
  tracks.missing_indices = {{"lines", {"maker", "number"}}};
  EXPECT_THAT(
      draft_statements("", graph, tracks, kSqlite),
      HasSubstr("create index if not exists lines_maker_number on lines (lower(hex(maker)), number);\n"));
}

TEST(DraftFilesTest, NamesTheColumnsThatHoldJson) {
  DraftPipeline pipeline = shop();
  pipeline.json = {"customer", "lines"};
  EXPECT_THAT(draft_configuration(pipeline, {}, kSqlite),
              HasSubstr("view = \"search.orders\"\njson = [\"customer\", \"lines\"]\n"));
}

TEST(DraftFilesTest, EachDatabaseHasItsClient) {
  EXPECT_THAT(kPostgres.client("postgresql:///shop", "a.sql"),
              ElementsAre("psql", "postgresql:///shop", "-v", "ON_ERROR_STOP=1", "-f", "a.sql"));
  EXPECT_THAT(kSqlite.client("sqlite:/srv/shop.db", "a b.sql"),
              ElementsAre("sqlite3", "-bail", "/srv/shop.db", ".read \"a b.sql\""));
}

TEST(DraftFilesTest, APipelinesNameIsTheAliasAsFarAsItMayBe) {
  EXPECT_EQ(pipeline_name("orders-2_a"), "orders-2_a");
  EXPECT_EQ(pipeline_name("ordérs.new"), "ord--rs-new");
  EXPECT_EQ(pipeline_name(std::string(50, 'a')).size(), 40U);
}

}  // namespace
}  // namespace lockstep
