// Tables of a shop, as a catalog would describe them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "replicator/source/postgres/define/dialect.h"
#include "replicator/source/sqlite/define/dialect.h"
#include "replicator/source/table_graph.h"

namespace lockstep {

/// A table shop.NAME of these columns, of which `key` are the primary key; the key has an index.
inline GraphTable shop_table(const std::string& name,
                             const std::vector<std::pair<std::string, ValueKind>>& columns,
                             const ColumnNames& key, const std::vector<ForeignKey>& foreign_keys = {}) {
  GraphTable table;
  table.name = "shop." + name;
  table.alias = table.own = name;
  table.schema = "shop";
  for (const auto& [column, kind] : columns) table.columns.push_back({column, column, "bigint", "=", kind});
  table.key = key;
  table.foreign_keys = foreign_keys;
  if (!key.empty()) table.indices.push_back(key);
  return table;
}

/// Orders with a customer, two addresses, lines of products, and tags by a table of links.
inline TableGraph shop_graph() {
  constexpr ValueKind kId = ValueKind::kLong;
  constexpr ValueKind kText = ValueKind::kText;
  TableGraph graph;
  for (GraphTable& table : std::vector<GraphTable>{
           shop_table("addresses", {{"id", kId}, {"street", kText}}, {"id"}),
           shop_table("customers", {{"id", kId}, {"name", kText}}, {"id"}),
           shop_table("orders",
                      {{"id", kId}, {"customer_id", kId}, {"billing_id", kId}, {"shipping_id", kId}}, {"id"},
                      {{{"customer_id"}, "shop.customers", {"id"}},
                       {{"billing_id"}, "shop.addresses", {"id"}},
                       {{"shipping_id"}, "shop.addresses", {"id"}}}),
           shop_table("products", {{"maker", kId}, {"number", kId}, {"name", kText}}, {"maker", "number"}),
           shop_table("lines", {{"id", kId}, {"order_id", kId}, {"maker", kId}, {"number", kId}}, {"id"},
                      {{{"order_id"}, "shop.orders", {"id"}},
                       {{"maker", "number"}, "shop.products", {"maker", "number"}}}),
           shop_table("tags", {{"id", kId}, {"name", kText}}, {"id"}),
           shop_table("order_tags", {{"order_id", kId}, {"tag_id", kId}, {"added", ValueKind::kDate}},
                      {"order_id", "tag_id"},
                      {{{"order_id"}, "shop.orders", {"id"}}, {{"tag_id"}, "shop.tags", {"id"}}})}) {
    graph.emplace(table.name, table);
  }
  return graph;
}

inline const PostgresDialect kPostgres;
inline const SqliteDialect kSqlite;

/// The same in a database without schemas.
inline TableGraph shop_file() {
  const auto own = [](const std::string& name) { return name.substr(name.find('.') + 1); };
  TableGraph graph;
  for (auto& [name, table] : shop_graph()) {
    GraphTable bare = table;
    bare.name = own(name);
    bare.schema.clear();
    for (ForeignKey& key : bare.foreign_keys) key.table = own(key.table);
    graph.emplace(bare.name, bare);
  }
  return graph;
}

}  // namespace lockstep
