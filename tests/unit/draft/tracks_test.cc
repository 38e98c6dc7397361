#include "replicator/draft/tracks.h"

#include <gmock/gmock.h>

#include "tests/unit/draft/shop_graph.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ViewShape orders_with(const std::vector<std::string>& tables) {
  ViewShape view;
  view.name = "search.orders";
  view.root = "shop.orders";
  view.root_column = "id";
  view.reads["shop.orders"] = 1;
  for (const std::string& table : tables) view.reads["shop." + table] = 1;
  return view;
}

DraftTracks tracks_of(const ViewShape& view, const TableGraph& graph = shop_graph()) {
  return draft_tracks(graph, joins_of_view(graph, view), kPostgres);
}

std::vector<DraftTrack> of_table(const DraftTracks& drafted, const std::string& table) {
  std::vector<DraftTrack> tracks;
  for (const DraftTrack& track : drafted.tracks) {
    if (track.table == table) tracks.push_back(track);
  }
  return tracks;
}

TEST(TracksTest, TheDocumentsOwnTableComesFirstAndNeedsNothingButItsName) {
  const DraftTracks drafted = tracks_of(orders_with({"customers"}));
  EXPECT_EQ(drafted.tracks.front().table, "shop.orders");
  EXPECT_EQ(drafted.tracks.front().row, "");
  EXPECT_THAT(drafted.tracks.front().queries, IsEmpty());
  EXPECT_THAT(of_table(drafted, "shop.orders"), SizeIs(1));
}

TEST(TracksTest, AnIdThatIsNotThePrimaryKeyIsTakenFromTheRow) {
  ViewShape view = orders_with({});
  view.root_column = "customer_id";
  const DraftTracks drafted = tracks_of(view);
  EXPECT_EQ(drafted.tracks.front().row, "customer_id");
  ASSERT_THAT(drafted.missing_indices, SizeIs(1));
  EXPECT_THAT(drafted.missing_indices[0].columns, ElementsAre("customer_id"));
}

TEST(TracksTest, WhereNoTableGivesTheIdEachTableIsNamedAndNoneHasATrack) {
  ViewShape view = orders_with({"customers"});
  view.root.clear();
  view.root_column.clear();
  const DraftTracks drafted = tracks_of(view);
  EXPECT_THAT(drafted.tracks, IsEmpty());
  ASSERT_THAT(drafted.unknown, SizeIs(2));
  EXPECT_THAT(drafted.unknown[0].reason, HasSubstr("what leads from shop.customers to an _id"));
}

TEST(TracksTest, AForeignKeyToTheDocumentIsItsId) {
  const auto tracks = of_table(tracks_of(orders_with({"lines"})), "shop.lines");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "order_id");
  EXPECT_THAT(tracks[0].queries, IsEmpty());
  EXPECT_THAT(tracks[0].paths, ElementsAre("shop.lines → shop.orders"));
}

TEST(TracksTest, ARowThatDocumentsReferToIsFoundByTheirForeignKey) {
  const DraftTracks drafted = tracks_of(orders_with({"customers"}));
  const auto tracks = of_table(drafted, "shop.customers");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "");
  EXPECT_THAT(tracks[0].queries,
              ElementsAre("select t1.id\nfrom shop.orders as t1\nwhere t1.customer_id = any($1)"));
  ASSERT_THAT(drafted.missing_indices, SizeIs(1));
  EXPECT_EQ(drafted.missing_indices[0].table, "shop.orders");
}

TEST(TracksTest, SeveralKeysBetweenTwoTablesAreOneTrackWithAUnion) {
  const auto tracks = of_table(tracks_of(orders_with({"addresses"})), "shop.addresses");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_THAT(tracks[0].queries, ElementsAre(HasSubstr("billing_id"), HasSubstr("shipping_id")));
}

TEST(TracksTest, ATableOfLinksNeedsNoLookAtTheDocumentsTable) {
  const auto tracks = of_table(tracks_of(orders_with({"order_tags", "tags"})), "shop.tags");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_THAT(tracks[0].queries,
              ElementsAre("select t1.order_id\nfrom shop.order_tags as t1\nwhere t1.tag_id = any($1)"));
}

TEST(TracksTest, AKeyOfTwoColumnsTravelsAsJson) {
  const auto tracks = of_table(tracks_of(orders_with({"lines", "products"})), "shop.products");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "") << "the primary key, which lockstep takes as JSON itself";
  EXPECT_THAT(tracks[0].queries,
              ElementsAre("select t1.order_id\nfrom unnest($1) as v(value)\njoin shop.lines as t1 on "
                          "t1.maker = (v.value ->> 0)::bigint and t1.number = (v.value ->> 1)::bigint"));
}

TEST(TracksTest, AForeignKeyOfTwoColumnsIsTakenAsJsonFromTheRow) {
  ViewShape view;
  view.root = "shop.customers";
  view.root_column = "id";
  view.reads = {{"shop.customers", 1}, {"shop.orders", 1}, {"shop.lines", 1}, {"shop.products", 1}};
  TableGraph graph = shop_graph();
  graph["shop.lines"].foreign_keys.erase(graph["shop.lines"].foreign_keys.begin());
  graph["shop.products"].foreign_keys.push_back({{"number"}, "shop.orders", {"id"}});
  const auto tracks = of_table(tracks_of(view, graph), "shop.lines");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "jsonb_build_array(maker, number)");
  EXPECT_THAT(tracks[0].queries, ElementsAre(HasSubstr("select t2.customer_id")));
}

TEST(TracksTest, ATableThatIsReadTwiceLeadsBackToItself) {
  ViewShape view = orders_with({"customers"});
  view.reads["shop.orders"] = 2;  // the other orders of the customer
  const DraftTracks drafted = tracks_of(view);
  const auto tracks = of_table(drafted, "shop.orders");
  ASSERT_THAT(tracks, SizeIs(2));
  EXPECT_EQ(tracks[1].row, "customer_id");
  EXPECT_THAT(tracks[1].queries,
              ElementsAre("select t2.id\nfrom shop.customers as t1\njoin shop.orders as t2 on "
                          "t2.customer_id = t1.id\nwhere t1.id = any($1)"));
}

TEST(TracksTest, SqliteTakesTheValuesOfAJsonArray) {
  const TableGraph graph = shop_file();
  const DocumentJoins documents{"orders",
                                "id",
                                {{"orders", 1}, {"customers", 1}, {"lines", 1}, {"products", 1}},
                                {{"orders", {"customer_id"}, "customers", {"id"}},
                                 {"lines", {"order_id"}, "orders", {"id"}},
                                 {"lines", {"maker", "number"}, "products", {"maker", "number"}}}};
  const DraftTracks drafted = draft_tracks(graph, documents, kSqlite);
  EXPECT_THAT(of_table(drafted, "customers").at(0).queries,
              ElementsAre("select t1.id\nfrom orders as t1\nwhere t1.customer_id in (select value from "
                          "json_each($1))"));
  EXPECT_THAT(of_table(drafted, "products").at(0).queries,
              ElementsAre("select t1.order_id\nfrom json_each($1) as v\njoin lines as t1 on t1.maker = "
                          "json_extract(v.value, '$[0]') and t1.number = json_extract(v.value, '$[1]')"));
}

TEST(TracksTest, BlobsOfSqliteAreComparedAsTheirDigits) {
  TableGraph graph = shop_file();
  for (GraphColumn& column : graph["orders"].columns) column.kind = ValueKind::kOpaque;
  const DocumentJoins documents{
      "orders", "id", {{"orders", 1}, {"customers", 1}}, {{"orders", {"customer_id"}, "customers", {"id"}}}};
  const DraftTracks drafted = draft_tracks(graph, documents, kSqlite);
  EXPECT_THAT(of_table(drafted, "customers").at(0).queries,
              ElementsAre("select lower(hex(t1.id))\nfrom orders as t1\nwhere lower(hex(t1.customer_id)) in "
                          "(select value from json_each($1))"));
  EXPECT_THAT(drafted.missing_indices, SizeIs(2)) << "an index on the blobs does not serve";
}

TEST(TracksTest, APathGoesOnThroughTheDocumentsTableWhereThatIsReadTwice) {
  ViewShape view = orders_with({"customers", "lines"});
  view.reads["shop.orders"] = 2;
  const auto tracks = of_table(tracks_of(view), "shop.lines");
  ASSERT_THAT(tracks, SizeIs(2));
  EXPECT_THAT(tracks[1].paths, ElementsAre("shop.lines → shop.orders → shop.customers → shop.orders"));
}

TEST(TracksTest, AnEqualityOfTheViewLeadsWhereNoForeignKeyDoes) {
  TableGraph graph = shop_graph();
  graph.emplace("shop.notes", shop_table("notes", {{"customer", ValueKind::kLong}}, {}));
  ViewShape view = orders_with({"notes"});
  view.joins.push_back({"shop.orders", {"customer_id"}, "shop.notes", {"customer"}});
  const DraftTracks drafted = tracks_of(view, graph);
  const auto tracks = of_table(drafted, "shop.notes");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "customer");
  EXPECT_THAT(drafted.unknown, IsEmpty());
}

TEST(TracksTest, AnEqualityThatIsPartOfAForeignKeyIsNoPathOfItsOwn) {
  ViewShape view = orders_with({"lines", "products"});
  view.joins.push_back({"shop.products", {"maker"}, "shop.lines", {"maker"}});
  view.joins.push_back({"shop.lines", {"number"}, "shop.products", {"number"}});
  EXPECT_THAT(of_table(tracks_of(view), "shop.products"), SizeIs(1));
}

TEST(TracksTest, ATableOfWhichOnePlaceIsNotReachedGetsNoTrackThatLooksLikeAllOfThem) {
  ViewShape view = orders_with({"customers"});
  view.unreached = {"shop.customers", "shop.orders"};
  const DraftTracks drafted = tracks_of(view);
  EXPECT_THAT(of_table(drafted, "shop.customers"), IsEmpty());
  EXPECT_THAT(of_table(drafted, "shop.orders"), SizeIs(1)) << "a document changes with its own row";
  ASSERT_THAT(drafted.unknown, SizeIs(2));
  EXPECT_THAT(drafted.unknown[0].reason, HasSubstr("reads shop.customers in a place from which no equality"));
  ASSERT_THAT(drafted.unknown[0].known, SizeIs(1));
  EXPECT_THAT(drafted.unknown[0].known[0].paths, ElementsAre("shop.customers → shop.orders"));
}

TEST(TracksTest, AJoinByAPartOfAForeignKeyIsAPathOfItsOwnAndOneByMoreIsNot) {
  ViewShape view = orders_with({"lines", "products"});
  view.links = {{"shop.lines", {"maker"}, "shop.products", {"maker"}},
                {"shop.lines", {"order_id", "id"}, "shop.orders", {"id", "billing_id"}}};
  view.joins = {{"shop.lines", {"maker"}, "shop.products", {"maker"}}};
  const DraftTracks drafted = tracks_of(view);
  EXPECT_THAT(of_table(drafted, "shop.products"), SizeIs(2)) << "all products of the line's maker are shown";
  EXPECT_THAT(of_table(drafted, "shop.lines"), SizeIs(1));
}

TEST(TracksTest, RowsWithoutAValueLeadToOneAnother) {
  ViewShape view = orders_with({"lines"});
  view.links = {{"shop.lines", {"maker"}, "shop.lines", {"maker"}, true},
                {"shop.lines", {}, "shop.lines", {}, true, {"maker"}},
                {"shop.lines", {"id"}, "shop.lines", {"id"}, true, {"number"}}};
  std::map<std::string, std::string> queries;
  for (const DraftTrack& track : of_table(tracks_of(view), "shop.lines")) {
    for (const std::string& query : track.queries) queries[track.row] += query + ";\n";
  }
  EXPECT_THAT(queries["maker"], HasSubstr("where t1.maker = any($1)"));
  EXPECT_THAT(queries["case when maker is null then 1 end"], HasSubstr("where t1.maker is null"));
  EXPECT_THAT(queries["case when number is null then id end"],
              HasSubstr("where t1.id = any($1) and t1.number is null"));
}

TEST(TracksTest, ATableThatMayChangeAnyDocumentHasNoOtherTrackThanThat) {
  ViewShape view = orders_with({"customers", "lines"});
  view.everywhere = {{"shop.customers", "limit or offset"}};
  view.unreached = {"shop.customers"};
  const DraftTracks drafted = tracks_of(view);
  const std::vector<DraftTrack> tracks = of_table(drafted, "shop.customers");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_THAT(tracks[0].queries, ElementsAre("select t1.id\nfrom shop.orders as t1"));
  EXPECT_THAT(drafted.unknown, IsEmpty());
}

TEST(TracksTest, TooManyPathsToAPartitionLeadToEveryDocument) {
  TableGraph graph = shop_graph();
  for (std::size_t i = 0; i <= kMaxPaths; ++i)
    graph["shop.orders"].foreign_keys.push_back(
        {{"customer_id"}, "shop.customers", {"id" + std::to_string(i)}});
  ViewShape view = orders_with({"customers"});
  view.compared = {{"shop.customers", "a window function"}};
  const DraftTracks drafted = tracks_of(view, graph);
  EXPECT_THAT(drafted.unknown, IsEmpty());
  ASSERT_THAT(of_table(drafted, "shop.customers"), SizeIs(1));
  EXPECT_THAT(of_table(drafted, "shop.customers")[0].queries,
              ElementsAre("select t1.id\nfrom shop.orders as t1"));
}

TEST(TracksTest, ATableThatNothingLeadsFromIsNamed) {
  const DraftTracks drafted = tracks_of(orders_with({"products"}));
  ASSERT_THAT(drafted.unknown, SizeIs(1));
  EXPECT_EQ(drafted.unknown[0].table, "shop.products");
  EXPECT_THAT(of_table(drafted, "shop.products"), IsEmpty());
}

// `init` ended with "map::at".
TEST(TracksTest, AViewThatReadsTheDatabasesOwnTablesIsDraftedAndTheseAreNamed) {
  ViewShape view = orders_with({"customers"});
  view.reads["pg_catalog.pg_class"] = 1;
  view.joins.push_back({"shop.orders", {"status"}, "pg_catalog.pg_class", {"relname"}});
  view.links = view.joins;
  const DraftTracks drafted = tracks_of(view);
  EXPECT_THAT(of_table(drafted, "shop.customers"), SizeIs(1));
  ASSERT_THAT(drafted.unknown, SizeIs(1));
  EXPECT_THAT(drafted.unknown[0].reason, HasSubstr("pg_catalog.pg_class belongs to the database itself"));
  view.root = "pg_catalog.pg_class";
  EXPECT_THAT(tracks_of(view).tracks, IsEmpty());
}

TEST(TracksTest, TooManyPathsAreNamedAndNoneOfThemIsLeftOutInSilence) {
  TableGraph graph = shop_graph();
  for (std::size_t i = 0; i <= kMaxPaths; ++i)
    graph["shop.orders"].foreign_keys.push_back(
        {{"customer_id"}, "shop.customers", {"id" + std::to_string(i)}});
  const DraftTracks drafted = tracks_of(orders_with({"customers"}), graph);
  ASSERT_THAT(drafted.unknown, SizeIs(1));
  EXPECT_THAT(drafted.unknown[0].reason, HasSubstr("more than 32 paths"));
  EXPECT_THAT(of_table(drafted, "shop.customers"), IsEmpty());
}

TEST(TracksTest, AnIndexThatBeginsWithTheColumnsInAnyOrderServes) {
  TableGraph graph = shop_graph();
  graph["shop.lines"].indices.push_back({"number", "maker", "id"});
  for (const DraftIndex& index : tracks_of(orders_with({"lines", "products"}), graph).missing_indices)
    EXPECT_THAT(index.columns, ElementsAre("order_id"));
}

}  // namespace
}  // namespace lockstep
