#include "replicator/draft/tracks.h"

#include <gmock/gmock.h>

#include "replicator/source/view/view_paths.h"
#include "tests/unit/draft/shop_graph.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A view of orders. Places are numbered as they are added; the orders are the first.
struct OrdersView {
  explicit OrdersView(const TableGraph& tables = shop_graph(), const std::string& root = "shop.orders")
      : tables(tables) {
    add(root);
    graph.documents[0] = "id";
  }

  std::size_t add(const std::string& table) {
    if (const auto found = tables.find(table); found != tables.end()) graph.keys[table] = {found->second.key};
    graph.places.push_back({table});
    reads.insert(table);
    return graph.places.size() - 1;
  }
  /// Another place, which is joined to one that is there.
  std::size_t join(const std::string& table, ColumnNames columns, std::size_t other, ColumnNames others) {
    const std::size_t place = add(table);
    graph.links.push_back({place, other, std::move(columns), std::move(others)});
    return place;
  }

  DraftTracks tracks(const SqlDialect& dialect = kPostgres) const {
    return draft_tracks(tables, graph, reads, dialect);
  }

  TableGraph tables;
  ViewGraph graph;
  std::set<std::string> reads;
};

std::vector<DraftTrack> of_table(const DraftTracks& drafted, const std::string& table) {
  std::vector<DraftTrack> tracks;
  for (const DraftTrack& track : drafted.tracks) {
    if (track.table == table) tracks.push_back(track);
  }
  return tracks;
}

TEST(TracksTest, TheDocumentsOwnTableComesFirstAndNeedsNothingButItsName) {
  OrdersView view;
  view.join("shop.customers", {"id"}, 0, {"customer_id"});
  const DraftTracks drafted = view.tracks();
  EXPECT_EQ(drafted.tracks.front().table, "shop.orders");
  EXPECT_EQ(drafted.tracks.front().row, "");
  EXPECT_THAT(drafted.tracks.front().queries, IsEmpty());
  EXPECT_THAT(of_table(drafted, "shop.orders"), SizeIs(1));
}

TEST(TracksTest, AnIdThatIsNotThePrimaryKeyIsTakenFromTheRow) {
  OrdersView view;
  view.graph.documents[0] = "customer_id";
  const DraftTracks drafted = view.tracks();
  EXPECT_EQ(drafted.tracks.front().row, "customer_id");
  ASSERT_THAT(drafted.missing_indices, SizeIs(1));
  EXPECT_THAT(drafted.missing_indices[0].columns, ElementsAre("customer_id"));
}

TEST(TracksTest, WhereNoTableGivesTheIdEachTableIsNamedAndNoneHasATrack) {
  OrdersView view;
  view.join("shop.customers", {"id"}, 0, {"customer_id"});
  view.graph.documents.clear();
  const DraftTracks drafted = view.tracks();
  EXPECT_THAT(drafted.tracks, IsEmpty());
  ASSERT_THAT(drafted.unknown, SizeIs(2));
  EXPECT_THAT(drafted.unknown[0].reason, HasSubstr("what leads from shop.customers to an _id"));
}

TEST(TracksTest, AColumnThatEqualsTheIdIsTheId) {
  OrdersView view;
  view.join("shop.lines", {"order_id"}, 0, {"id"});
  const auto tracks = of_table(view.tracks(), "shop.lines");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "order_id");
  EXPECT_THAT(tracks[0].queries, IsEmpty());
  EXPECT_THAT(tracks[0].paths, ElementsAre("shop.lines → shop.orders"));
}

TEST(TracksTest, ARowThatDocumentsReferToIsFoundByTheirColumn) {
  OrdersView view;
  view.join("shop.customers", {"id"}, 0, {"customer_id"});
  const DraftTracks drafted = view.tracks();
  const auto tracks = of_table(drafted, "shop.customers");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "");
  EXPECT_THAT(tracks[0].queries,
              ElementsAre("select t1.id\nfrom shop.orders as t1\nwhere t1.customer_id = any($1)"));
  ASSERT_THAT(drafted.missing_indices, SizeIs(1));
  EXPECT_EQ(drafted.missing_indices[0].table, "shop.orders");
}

TEST(TracksTest, AForeignKeyThatTheViewDoesNotJoinByIsNoPath) {
  OrdersView view;
  view.join("shop.addresses", {"id"}, 0, {"billing_id"});
  const auto tracks = of_table(view.tracks(), "shop.addresses");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_THAT(tracks[0].queries, ElementsAre(HasSubstr("billing_id")));
}

TEST(TracksTest, SeveralPlacesOfATableAreOneTrackWithAUnion) {
  OrdersView view;
  view.join("shop.addresses", {"id"}, 0, {"billing_id"});
  view.join("shop.addresses", {"id"}, 0, {"shipping_id"});
  const auto tracks = of_table(view.tracks(), "shop.addresses");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_THAT(tracks[0].queries, ElementsAre(HasSubstr("billing_id"), HasSubstr("shipping_id")));
}

TEST(TracksTest, ATableOfLinksNeedsNoLookAtTheDocumentsTable) {
  OrdersView view;
  const std::size_t links = view.join("shop.order_tags", {"order_id"}, 0, {"id"});
  view.join("shop.tags", {"id"}, links, {"tag_id"});
  const auto tracks = of_table(view.tracks(), "shop.tags");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_THAT(tracks[0].queries,
              ElementsAre("select t1.order_id\nfrom shop.order_tags as t1\nwhere t1.tag_id = any($1)"));
}

TEST(TracksTest, AKeyOfTwoColumnsTravelsAsJson) {
  OrdersView view;
  const std::size_t lines = view.join("shop.lines", {"order_id"}, 0, {"id"});
  view.join("shop.products", {"maker", "number"}, lines, {"maker", "number"});
  const auto tracks = of_table(view.tracks(), "shop.products");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "") << "the primary key, which lockstep takes as JSON itself";
  EXPECT_THAT(tracks[0].queries,
              ElementsAre("select t1.order_id\nfrom unnest($1) as v(value)\njoin shop.lines as t1 on "
                          "t1.maker = (v.value ->> 0)::bigint and t1.number = (v.value ->> 1)::bigint"));
}

TEST(TracksTest, TwoColumnsThatAreNoPrimaryKeyAreTakenAsJsonFromTheRow) {
  OrdersView view(shop_graph(), "shop.customers");
  const std::size_t products = view.join("shop.products", {"name"}, 0, {"name"});
  view.join("shop.lines", {"maker", "number"}, products, {"maker", "number"});
  const auto tracks = of_table(view.tracks(), "shop.lines");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_EQ(tracks[0].row, "jsonb_build_array(maker, number)");
  EXPECT_THAT(tracks[0].queries, ElementsAre(HasSubstr("select t2.id")));
}

TEST(TracksTest, ATableThatIsReadTwiceLeadsBackToItself) {
  OrdersView view;
  const std::size_t customers = view.join("shop.customers", {"id"}, 0, {"customer_id"});
  view.join("shop.orders", {"customer_id"}, customers, {"id"});  // the other orders of the customer
  const auto tracks = of_table(view.tracks(), "shop.orders");
  ASSERT_THAT(tracks, SizeIs(2));
  EXPECT_EQ(tracks[1].row, "customer_id");
  EXPECT_THAT(tracks[1].queries,
              ElementsAre("select t2.id\nfrom shop.customers as t1\njoin shop.orders as t2 on "
                          "t2.customer_id = t1.id\nwhere t1.id = any($1)"));
}

OrdersView orders_of_file(TableGraph tables) {
  OrdersView view(std::move(tables), "orders");
  view.join("customers", {"id"}, 0, {"customer_id"});
  const std::size_t lines = view.join("lines", {"order_id"}, 0, {"id"});
  view.join("products", {"maker", "number"}, lines, {"maker", "number"});
  return view;
}

TEST(TracksTest, SqliteTakesTheValuesOfAJsonArray) {
  const DraftTracks drafted = orders_of_file(shop_file()).tracks(kSqlite);
  EXPECT_THAT(of_table(drafted, "customers").at(0).queries,
              ElementsAre("select t1.id\nfrom orders as t1\nwhere t1.customer_id in (select value from "
                          "json_each($1))"));
  EXPECT_THAT(of_table(drafted, "products").at(0).queries,
              ElementsAre("select t1.order_id\nfrom json_each($1) as v\njoin lines as t1 on t1.maker = "
                          "json_extract(v.value, '$[0]') and t1.number = json_extract(v.value, '$[1]')"));
}

TEST(TracksTest, BlobsOfSqliteAreComparedAsTheirDigits) {
  TableGraph tables = shop_file();
  for (GraphColumn& column : tables["orders"].columns) column.kind = ValueKind::kOpaque;
  OrdersView view(tables, "orders");
  view.join("customers", {"id"}, 0, {"customer_id"});
  const DraftTracks drafted = view.tracks(kSqlite);
  EXPECT_THAT(of_table(drafted, "customers").at(0).queries,
              ElementsAre("select lower(hex(t1.id))\nfrom orders as t1\nwhere lower(hex(t1.customer_id)) in "
                          "(select value from json_each($1))"));
  EXPECT_THAT(drafted.missing_indices, SizeIs(2)) << "an index on the blobs does not serve";
}

TEST(TracksTest, ATableOfWhichOnePlaceIsNotReachedGetsNoTrackThatLooksLikeAllOfThem) {
  OrdersView view;
  view.join("shop.customers", {"id"}, 0, {"customer_id"});
  view.add("shop.customers");
  view.add("shop.orders");
  const DraftTracks drafted = view.tracks();
  EXPECT_THAT(of_table(drafted, "shop.customers"), IsEmpty());
  EXPECT_THAT(of_table(drafted, "shop.orders"), SizeIs(1)) << "a document changes with its own row";
  ASSERT_THAT(drafted.unknown, SizeIs(2));
  EXPECT_THAT(drafted.unknown[0].reason, HasSubstr("reads shop.customers in a place from which no equality"));
  ASSERT_THAT(drafted.unknown[0].known, SizeIs(1));
  EXPECT_THAT(drafted.unknown[0].known[0].paths, ElementsAre("shop.customers → shop.orders"));
  EXPECT_EQ(drafted.unknown[0].every_document, "select t1.id\nfrom shop.orders as t1");
}

TEST(TracksTest, RowsWithoutAValueLeadToOneAnother) {
  OrdersView view;
  const std::size_t lines = view.join("shop.lines", {"order_id"}, 0, {"id"});
  view.graph.peers = {{lines, {"maker"}, {}, {lines}, {lines}},
                      {lines, {}, {"maker"}, {lines}, {lines}},
                      {lines, {"id"}, {"number"}, {lines}, {lines}}};
  std::map<std::string, std::string> queries;
  for (const DraftTrack& track : of_table(view.tracks(), "shop.lines")) {
    for (const std::string& query : track.queries) queries[track.row] += query + ";\n";
  }
  EXPECT_THAT(queries["maker"], HasSubstr("where t1.maker = any($1)"));
  EXPECT_THAT(queries["case when maker is null then 1 end"], HasSubstr("where t1.maker is null"));
  EXPECT_THAT(queries["case when number is null then id end"],
              HasSubstr("where t1.id = any($1) and t1.number is null"));
}

TEST(TracksTest, ATableThatMayChangeAnyDocumentHasNoOtherTrackThanThat) {
  OrdersView view;
  view.add("shop.customers");
  view.graph.everywhere = {{"shop.customers", "limit or offset"}};
  const DraftTracks drafted = view.tracks();
  const std::vector<DraftTrack> tracks = of_table(drafted, "shop.customers");
  ASSERT_THAT(tracks, SizeIs(1));
  EXPECT_THAT(tracks[0].queries, ElementsAre("select t1.id\nfrom shop.orders as t1"));
  EXPECT_THAT(drafted.unknown, IsEmpty());
}

TEST(TracksTest, TooManyWaysLeadToEveryDocumentAndNotToNone) {
  OrdersView view;
  const std::size_t customers = view.add("shop.customers");
  for (std::size_t i = 0; i <= kMaxPaths; ++i)
    view.graph.links.push_back({customers, 0, {"id" + std::to_string(i)}, {"customer_id"}});
  const DraftTracks drafted = view.tracks();
  EXPECT_THAT(drafted.unknown, IsEmpty());
  ASSERT_THAT(of_table(drafted, "shop.customers"), SizeIs(1));
  EXPECT_THAT(of_table(drafted, "shop.customers")[0].queries,
              ElementsAre("select t1.id\nfrom shop.orders as t1"));
}

TEST(TracksTest, ATableThatNothingLeadsFromIsNamed) {
  OrdersView view;
  view.add("shop.products");
  const DraftTracks drafted = view.tracks();
  ASSERT_THAT(drafted.unknown, SizeIs(1));
  EXPECT_EQ(drafted.unknown[0].table, "shop.products");
  EXPECT_THAT(of_table(drafted, "shop.products"), IsEmpty());
}

// `init` ended with "map::at".
TEST(TracksTest, AViewThatReadsTheDatabasesOwnTablesIsDraftedAndTheseAreNamed) {
  OrdersView view;
  view.join("shop.customers", {"id"}, 0, {"customer_id"});
  view.join("pg_catalog.pg_class", {"relname"}, 0, {"status"});
  const DraftTracks drafted = view.tracks();
  EXPECT_THAT(of_table(drafted, "shop.customers"), SizeIs(1));
  ASSERT_THAT(drafted.unknown, SizeIs(1));
  EXPECT_THAT(drafted.unknown[0].reason, HasSubstr("pg_catalog.pg_class belongs to the database itself"));
  view.graph.documents = {{2, "relname"}};
  EXPECT_THAT(view.tracks().tracks, IsEmpty());
}

TEST(TracksTest, AnIndexThatBeginsWithTheColumnsInAnyOrderServes) {
  OrdersView view;
  view.tables["shop.lines"].indices.push_back({"number", "maker", "id"});
  const std::size_t lines = view.join("shop.lines", {"order_id"}, 0, {"id"});
  view.join("shop.products", {"maker", "number"}, lines, {"maker", "number"});
  for (const DraftIndex& index : view.tracks().missing_indices)
    EXPECT_THAT(index.columns, ElementsAre("order_id"));
}

}  // namespace
}  // namespace lockstep
