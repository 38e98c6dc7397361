#include "replicator/draft/view.h"

#include <gmock/gmock.h>

#include "replicator/error.h"
#include "tests/unit/draft/shop_graph.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

DraftView view_with(const std::vector<std::string>& with) {
  return draft_view(shop_graph(), "search.orders", "orders", with, kPostgres);
}

std::vector<std::string> names(const std::vector<DraftField>& fields) {
  std::vector<std::string> names;
  for (const DraftField& field : fields) names.push_back(field.name);
  return names;
}

TEST(ViewTest, TheRootsColumnsAreTheFields) {
  const DraftView view = view_with({});
  EXPECT_EQ(view.sql,
            "create view search.orders as\nselect\n  orders.id as _id,\n  orders.id,\n  orders.customer_id,\n"
            "  orders.billing_id,\n  orders.shipping_id\nfrom shop.orders as orders;\n");
  EXPECT_THAT(names(view.fields), ElementsAre("id", "customer_id", "billing_id", "shipping_id"));
}

TEST(ViewTest, ARowThatIsReferredToIsAnObjectCalledAsTheColumn) {
  const DraftView view = view_with({"customers"});
  EXPECT_THAT(view.sql, HasSubstr("select row_to_json(part_.*)"));
  EXPECT_THAT(view.sql, HasSubstr("where customers.id = orders.customer_id"));
  EXPECT_EQ(view.fields.back().name, "customer");
  EXPECT_THAT(names(view.fields.back().fields), ElementsAre("id", "name"));
}

TEST(ViewTest, EachForeignKeyToATableIsAnObject) {
  const DraftView view = view_with({"addresses"});
  EXPECT_THAT(names(view.fields),
              ElementsAre("id", "customer_id", "billing_id", "shipping_id", "billing", "shipping"));
  EXPECT_THAT(view.sql, HasSubstr("shop.addresses as addresses_2"));
  EXPECT_THAT(view.reads, ElementsAre("shop.addresses", "shop.orders"));
  EXPECT_THAT(view.graph.places, testing::SizeIs(3));
  EXPECT_THAT(view.graph.links, testing::SizeIs(2)) << "nothing joins the one address with the other";
}

TEST(ViewTest, RowsThatReferToItAreAnArrayInTheOrderOfTheirKey) {
  const DraftView view = view_with({"products", "lines"});
  EXPECT_THAT(view.sql, HasSubstr("json_agg(row_to_json(part_.*) order by part_.id)"));
  EXPECT_THAT(view.sql, HasSubstr("where products.maker = lines.maker and products.number = lines.number"));
  EXPECT_THAT(names(view.fields.back().fields), ElementsAre("id", "order_id", "maker", "number", "products"));
}

TEST(ViewTest, RowsWithoutAKeyAreAnArrayInTheOrderOfTheirColumns) {
  TableGraph graph = shop_graph();
  graph.at("shop.lines").key.clear();
  graph.at("shop.lines").columns.back().kind = ValueKind::kObject;  // JSON has no order
  EXPECT_THAT(draft_view(graph, "search.orders", "orders", {"lines"}, kPostgres).sql,
              HasSubstr("json_agg(row_to_json(part_.*) order by part_.id, part_.order_id, part_.maker)"));
}

TEST(ViewTest, ATemporalKeyRefersToAllRowsThatAreValidMeanwhile) {
  TableGraph graph = shop_graph();
  for (const auto& [name, column] :
       {std::pair("shop.orders", "during"), std::pair("shop.customers", "valid")})
    graph.at(name).columns.push_back({.name = column, .quoted = column, .type = "daterange"});
  graph.at("shop.customers").key = {"id", "valid"};
  for (ForeignKey& key : graph.at("shop.orders").foreign_keys) {
    if (key.table == "shop.customers")
      std::tie(key.period, key.referenced_period) = std::pair("during", "valid");
  }
  const DraftView orders = draft_view(graph, "search.orders", "orders", {"customers"}, kPostgres);
  EXPECT_THAT(orders.sql,
              HasSubstr("where customers.id = orders.customer_id and customers.valid && orders.during"));
  EXPECT_THAT(orders.sql, HasSubstr("json_agg(row_to_json(part_.*) order by part_.id, part_.valid)"));
  EXPECT_THAT(orders.graph.links,
              ElementsAre(testing::Field(&ViewGraph::Link::columns, ElementsAre("customer_id"))))
      << "a changed customer changes the orders of any time";
}

TEST(ViewTest, ATableOfLinksIsPassedThrough) {
  const DraftView view = view_with({"tags"});
  EXPECT_THAT(view.sql, HasSubstr("join shop.order_tags as order_tags on order_tags.tag_id = tags.id"));
  EXPECT_THAT(view.sql, HasSubstr("where order_tags.order_id = orders.id"));
  EXPECT_THAT(names(view.fields.back().fields), ElementsAre("id", "name"));
  EXPECT_THAT(view.graph.links, SizeIs(2));
  EXPECT_THAT(view.reads, testing::Contains("shop.order_tags"));
}

TEST(ViewTest, AMistypedTableIsAnsweredWithTheNearest) {
  for (const char* name : {"custmers", "shop.custmers"})
    EXPECT_THAT([&] { table_called(shop_graph(), name); },
                ThrowsMessage<UsageError>(HasSubstr("did you mean shop.customers?")));
}

// `init --table customers` put password_hash into view and mapping.
TEST(ViewTest, ColumnsThatLookLikeSecretsAreLeftOut) {
  TableGraph graph = shop_graph();
  for (const char* name : {"password_hash", "card_id"})
    graph["shop.customers"].columns.push_back({name, name, "text"});
  graph["shop.customers"].columns.push_back(
      {"password_set_at", "password_set_at", "date", "=", ValueKind::kDate});
  graph["shop.customers"].foreign_keys.push_back({{"card_id"}, "shop.addresses", {"id"}});
  const DraftView view = draft_view(graph, "search.orders", "orders", {"customers"}, kPostgres);
  EXPECT_THAT(names(view.fields.back().fields), ElementsAre("id", "name", "card_id", "password_set_at"))
      << "rows are joined by it; when is no secret";
  EXPECT_THAT(view.sql, Not(HasSubstr("password_hash")));
  ASSERT_THAT(view.left_out, SizeIs(1));
  EXPECT_EQ(view.left_out.front().name, "shop.customers.password_hash");
  EXPECT_EQ(view.left_out.front().field, "customer.password_hash");
  EXPECT_EQ(view.left_out.front().as, "customers.password_hash");
}

TEST(ViewTest, AFieldDoesNotTakeTheNameOfAColumn) {
  TableGraph graph = shop_graph();
  graph["shop.orders"].columns.push_back({"customer", "customer", "text", "=", ValueKind::kText});
  EXPECT_EQ(draft_view(graph, "search.orders", "shop.orders", {"customers"}, kPostgres).fields.back().name,
            "customer_2");
}

TEST(ViewTest, NamesThatNeedQuotesKeepThem) {
  TableGraph graph = shop_graph();
  GraphTable tags = shop_table("Tags", {{"id", ValueKind::kLong}}, {"id"});
  tags.name = "shop.\"Tags\"";
  tags.alias = "\"Tags\"";
  tags.foreign_keys = {{{"id"}, "shop.orders", {"id"}}};
  graph.emplace(tags.name, tags);
  const DraftView view = draft_view(graph, "search.orders", "orders", {"Tags"}, kPostgres);
  EXPECT_THAT(view.sql, HasSubstr("from shop.\"Tags\" as \"Tags\""));
  EXPECT_THAT(view.sql, HasSubstr("as \"Tags\"\nfrom shop.orders"));
}

TEST(ViewTest, SqliteNestsObjectsAndOrderedArrays) {
  EXPECT_EQ(draft_view(shop_file(), "search_lines", "lines", {"products", "orders", "tags"}, kSqlite).sql,
            R"sql(create view search_lines as
select
  lines.id as _id,
  lines.id,
  lines.order_id,
  lines.maker,
  lines.number,
  (
    select
      json_object(
        'maker', products.maker,
        'number', products.number,
        'name', products.name
      )
    from products as products
    where products.maker = lines.maker and products.number = lines.number
  ) as products,
  (
    select
      json_object(
        'id', orders.id,
        'customer_id', orders.customer_id,
        'billing_id', orders.billing_id,
        'shipping_id', orders.shipping_id,
        'tags', json((
          select json_group_array(json(part_.object))
          from (
            select json_object(
              'id', tags.id,
              'name', tags.name
            ) as object
            from tags as tags
            join order_tags as order_tags on order_tags.tag_id = tags.id
            where order_tags.order_id = orders.id
            order by tags.id
          ) as part_
        ))
      )
    from orders as orders
    where orders.id = lines.order_id
  ) as "order"
from lines as lines;
)sql");
}

TEST(ViewTest, JsonOfSqliteHasNoBlobsAndNestsTheJsonOfTexts) {
  TableGraph graph = shop_file();
  GraphTable& customers = graph["customers"];
  customers.columns = {{"id", "id", "integer", "=", ValueKind::kLong},
                       {"photo", "photo", "blob", "=", ValueKind::kOpaque},
                       {"any", "any", "", "=", ValueKind::kText},
                       {"facts", "facts", "json", "=", ValueKind::kObject, true}};
  const DraftView view = draft_view(graph, "search_orders", "orders", {"customers"}, kSqlite);
  EXPECT_THAT(view.sql, HasSubstr("'photo', iif(typeof(customers.photo) = 'blob', lower(hex("));
  EXPECT_THAT(view.sql, HasSubstr("'any', iif(typeof(customers.any) = 'blob'"));
  EXPECT_THAT(view.sql, HasSubstr("'facts', iif(json_valid(customers.facts), json(customers.facts), "));
  EXPECT_TRUE(view.fields.back().json_in_text);
}

TEST(ViewTest, NamesATableOfMoreFieldsThanSqliteTakes) {
  TableGraph graph = shop_file();
  for (int i = 0; i < 62; ++i)
    graph["customers"].columns.push_back({"c" + std::to_string(i), "c", "text", "=", ValueKind::kText});
  EXPECT_THAT([&] { draft_view(graph, "search_orders", "orders", {"customers"}, kSqlite); },
              ThrowsMessage<UsageError>(HasSubstr("customers gives more than 63 fields")));
}

TEST(ViewTest, TakesNamesInOtherLettersWhereOnlyOneIsMeant) {
  EXPECT_EQ(table_called(shop_file(), "ORDERS").name, "orders");
  EXPECT_THAT([] { table_called(shop_file(), "nothing"); },
              ThrowsMessage<UsageError>(HasSubstr("there is no table nothing; there are addresses")));
}

TEST(ViewTest, NamesATableThatNothingLeadsTo) {
  EXPECT_THAT(
      [] { view_with({"products"}); },
      ThrowsMessage<UsageError>(HasSubstr("shop.products: no foreign key and no table of links joins it")));
}

TEST(ViewTest, NamesATableThatIsNotThereOrThereTwice) {
  TableGraph graph = shop_graph();
  GraphTable other = graph["shop.tags"];
  other.name = "blog.tags";
  other.schema = "blog";
  graph.emplace(other.name, other);
  EXPECT_THAT([&] { table_called(graph, "tags"); }, ThrowsMessage<UsageError>(HasSubstr("tags may be")));
  EXPECT_EQ(table_called(graph, "blog.tags").schema, "blog");
  EXPECT_THAT([&] { table_called(graph, "nothing"); },
              ThrowsMessage<UsageError>(HasSubstr("there is no table nothing")));
}

TEST(ViewTest, RefusesARootWithoutASingleKey) {
  EXPECT_THAT([] { draft_view(shop_graph(), "search.x", "products", {}, kPostgres); },
              ThrowsMessage<UsageError>(HasSubstr("a primary key of several columns")));
}

}  // namespace
}  // namespace lockstep
