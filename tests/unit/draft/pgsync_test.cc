#include "replicator/draft/pgsync.h"

#include <gmock/gmock.h>

#include "replicator/draft/mapping.h"
#include "replicator/draft/view.h"
#include "replicator/error.h"
#include "tests/unit/draft/shop_graph.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr const char* kOrders = R"([{
  "database": "shop", "index": "orders", "setting": {"number_of_replicas": 2}, "pipeline": "clean", "routing": "customer_id",
  "nodes": {
    "table": "orders", "schema": "shop", "columns": ["id"],
    "transform": {"rename": {"id": "order_id"}, "mapping": {"order_id": {"type": "keyword"}}, "concat": {}},
    "children": [
      {"table": "customers", "label": "customer", "columns": ["name"],
       "relationship": {"type": "one_to_one", "variant": "object"}},
      {"table": "tags", "columns": ["name"],
       "relationship": {"type": "one_to_many", "variant": "scalar", "through_tables": ["order_tags"]}},
      {"table": "addresses", "label": "billing", "columns": ["street"],
       "relationship": {"type": "one_to_one", "variant": "object", "foreign_key": {"child": ["id"], "parent": ["billing_id"]}}},
      {"table": "lines", "columns": ["id"], "relationship": {"type": "one_to_many", "variant": "object"},
       "children": [{"table": "products", "columns": ["name"], "relationship": {"type": "one_to_one", "variant": "object"}}]}
    ]
  }
}])";

std::vector<PgsyncIndex> read_schema(const std::string& text) {
  return read_pgsync_schema("schema.json", text);
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kOrders;
  return text.replace(text.find(from), from.size(), to);
}

DraftView view_of(const std::string& text) {
  return draft_view(shop_graph(), "search.orders", read_schema(text).front().document, kPostgres);
}

TEST(PgsyncTest, ATreeOfNodesBecomesAView) {
  const DraftView view = view_of(kOrders);
  EXPECT_EQ(view.sql,
            R"(create view search.orders as
select
  orders.id as _id,
  orders.customer_id as _routing,
  orders.id as order_id,
  (
    select row_to_json(part_.*)
    from (
      select
        customers.name
      from shop.customers as customers
      where customers.id = orders.customer_id
    ) as part_
  ) as customer,
  (
    select coalesce(json_agg(part_.name), '[]')
    from (
      select
        tags.name
      from shop.tags as tags
      join shop.order_tags as order_tags on order_tags.tag_id = tags.id
      where order_tags.order_id = orders.id
      order by tags.id
    ) as part_
  ) as tags,
  (
    select row_to_json(part_.*)
    from (
      select
        addresses.street
      from shop.addresses as addresses
      where addresses.id = orders.billing_id
    ) as part_
  ) as billing,
  (
    select coalesce(json_agg(row_to_json(part_.*) order by part_.id), '[]')
    from (
      select
        lines.id,
        (
          select row_to_json(part_.*)
          from (
            select
              products.name
            from shop.products as products
            where products.maker = lines.maker and products.number = lines.number
          ) as part_
        ) as products
      from shop.lines as lines
      where lines.order_id = orders.id
    ) as part_
  ) as lines
from shop.orders as orders;
)");
  EXPECT_THAT(view.graph.links, SizeIs(6));
}

TEST(PgsyncTest, MappingsAndSettingsAreTaken) {
  const std::string mapping = draft_mapping(view_of(kOrders).fields, read_schema(kOrders).front().settings);
  EXPECT_THAT(mapping, HasSubstr("\"number_of_replicas\": 2"));
  EXPECT_THAT(mapping, HasSubstr("\"index.default_pipeline\": \"clean\""));
  EXPECT_THAT(mapping, HasSubstr("\"order_id\": {\n        \"type\": \"keyword\""));
}

TEST(PgsyncTest, WhatHasNoCounterpartIsNamedWithItsPlace) {
  std::vector<std::string> lines;
  const PgsyncIndex index = read_schema(with("\"children\"", "\"auto\": 1, \"children\"")).front();
  for (const Finding& finding : index.untranslated) lines.push_back(to_line(finding));
  EXPECT_THAT(lines,
              ElementsAre(HasSubstr("schema.json: [0].nodes.transform.concat: fields that are joined"),
                          HasSubstr("schema.json: [0].nodes.auto: it has no counterpart that init knows")));
}

TEST(PgsyncTest, ARowOfSeveralIsTheFirst) {
  EXPECT_THAT(view_of(with(R"("lines", "columns": ["id"], "relationship": {"type": "one_to_many")",
                           R"("lines", "columns": ["id"], "relationship": {"type": "one_to_one")"))
                  .sql,
              HasSubstr("where lines.order_id = orders.id\n      order by lines.id limit 1"));
}

TEST(PgsyncTest, AFaultIsNamedWithItsPlace) {
  EXPECT_THAT([] { read_schema("[{]"); },
              ThrowsMessage<UsageError>(HasSubstr("schema.json: parse error at line 1")));
  EXPECT_THAT([] { read_schema("{}"); }, ThrowsMessage<UsageError>(HasSubstr("is an array of entries")));
  EXPECT_THAT([] { read_schema(with("\"table\": \"tags\"", "\"table\": 1")); },
              ThrowsMessage<UsageError>("schema.json: [0].nodes.children[1].table: it is not a text"));
  EXPECT_THAT(
      [] { read_schema(with("one_to_one", "many")); },
      ThrowsMessage<UsageError>(HasSubstr("[0].nodes.children[0].relationship.type: it is \"many\"")));
  EXPECT_THAT(
      [] { view_of(with("[\"street\"]", "[\"road\"]")); },
      ThrowsMessage<UsageError>("schema.json: [0].nodes.children[2]: shop.addresses has no column road"));
  EXPECT_THAT(
      [] { view_of(with(R"(, "foreign_key": {"child": ["id"], "parent": ["billing_id"]})", "")); },
      ThrowsMessage<UsageError>(HasSubstr("several foreign keys join shop.addresses and shop.orders")));
  EXPECT_THAT([] { view_of(with("\"label\": \"billing\"", "\"label\": \"customer\"")); },
              ThrowsMessage<UsageError>(HasSubstr("the field customer is there twice")));
  EXPECT_THAT([] { view_of(with("\"table\": \"customers\"", "\"table\": \"clients\"")); },
              ThrowsMessage<UsageError>(HasSubstr("children[0]: there is no table clients")));
}

}  // namespace
}  // namespace lockstep
