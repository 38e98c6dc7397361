#include "tests/bench/support/shop_work.h"

#include <filesystem>
#include <pqxx/pqxx>
#include <stdexcept>

namespace lockstep::benchmarks {
namespace {

constexpr int kLines = 3;  // of an order

const char* const kProducts = R"json({"settings": {"number_of_shards": 1, "number_of_replicas": 0},
  "mappings": {"dynamic": "strict", "properties": {"name": {"type": "text"}, "price": {"type": "long"}}}})json";

// What both databases read. {p} stands before a table's name, {count} for a table of the numbers from 1 to n.
constexpr const char* kTables = R"sql(
create table {p}customers (id integer primary key, name text not null);
create table {p}products (id integer primary key, name text not null, price integer not null);
create table {p}orders (id integer primary key, customer_id integer not null references {p}customers, note text not null);
create table {p}lines (id integer primary key, order_id integer not null references {p}orders,
                       product_id integer not null references {p}products, quantity integer not null);
create index orders_customer on {p}orders (customer_id);
create index lines_order on {p}lines (order_id);
create index lines_product on {p}lines (product_id);
)sql";

constexpr const char* kPostgresViews = R"sql(
create view shop.order_documents as
  select o.id as _id, o.customer_id as _customer_id, o.note, json_build_object('id', c.id, 'name', c.name) as customer,
         (select json_agg(json_build_object('product', p.name, 'price', p.price, 'quantity', l.quantity) order by l.id)
          from shop.lines as l join shop.products as p on p.id = l.product_id where l.order_id = o.id) as lines
  from shop.orders as o join shop.customers as c on c.id = o.customer_id;
create view shop.product_documents as select id as _id, name, price from shop.products;
)sql";

constexpr const char* kSqliteViews = R"sql(
create view order_documents as
  select o.id as _id, o.customer_id as _customer_id, o.note, json_object('id', c.id, 'name', c.name) as customer,
         (select json_group_array(json_object('product', p.name, 'price', p.price, 'quantity', l.quantity))
          from (select * from lines where order_id = o.id order by id) as l join products as p on p.id = l.product_id) as lines
  from orders as o join customers as c on c.id = o.customer_id;
create view product_documents as select id as _id, name, price from products;
)sql";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// The last product and the last customer belong to the last order alone.
std::string rows(const ShopSize& size, const std::string& prefix, const std::string& numbers) {
  const auto from = [&](std::int64_t count) { return replaced(numbers, "{n}", std::to_string(count)); };
  const std::string orders = std::to_string(size.orders);
  const std::string products = std::to_string(size.products);
  const std::string customers = std::to_string(size.customers);
  const std::string order = "((n - 1) / " + std::to_string(kLines) + " + 1)";
  return "insert into " + prefix + "customers select n, 'customer ' || n from " + from(size.customers + 1) +
         ";insert into " + prefix + "products select n, 'product ' || n, 100 + n from " +
         from(size.products + 1) + ";insert into " + prefix + "orders select n, case when n > " + orders +
         " then " + customers + " + 1 else 1 + n % " + customers + " end, 'note ' || n from " +
         from(size.orders + 1) + ";insert into " + prefix + "lines select n, " + order + ", case when " +
         order + " > " + orders + " then " + products + " + 1 else 1 + (n * 7 + n / 60) % " + products +
         " end, 1 + n % 5 from " + from((size.orders + 1) * kLines);
}

}  // namespace

const std::string& ShopWork::mapping() {
  static const std::string text = R"json({
  "settings": {"number_of_shards": 1, "number_of_replicas": 0},
  "mappings": {"dynamic": "strict", "properties": {
    "note": {"type": "text"},
    "customer": {"properties": {"id": {"type": "long"}, "name": {"type": "text"}}},
    "lines": {"type": "nested", "properties": {"product": {"type": "text"}, "price": {"type": "long"},
                                               "quantity": {"type": "long"}}}}}})json";
  return text;
}

ShopWork::ShopWork(Store store, const ShopSize& size) : store_(store), size_(size) {
  std::string numbers =
      "(with recursive i(n) as (select 1 union all select n + 1 from i where n < {n}) select n from i)";
  if (store_ == Store::kPostgres) {
    prefix_ = "shop.";
    numbers = "generate_series(1, {n}) as n";
    postgres_ = std::make_unique<support::PostgresDatabase>();
    postgres_->execute("create schema shop;" + replaced(kTables, "{p}", prefix_) + kPostgresViews);
    postgres_->execute(rows(size_, prefix_, numbers));
    postgres_->execute("vacuum analyze");
    pipeline_ = std::make_unique<support::PipelineUnderTest>(*postgres_);
  } else {
    folder_ = std::make_unique<support::TemporaryFolder>();
    const std::filesystem::path file = folder_->path() / "shop.db";
    sqlite_ = std::make_unique<support::SqliteApplication>(file);
    sqlite_->execute("pragma journal_mode = wal; pragma synchronous = normal;" +
                     replaced(kTables, "{p}", prefix_) + kSqliteViews + rows(size_, prefix_, numbers) +
                     "; analyze");
    pipeline_ = std::make_unique<support::PipelineUnderTest>("sqlite:" + file.string());
  }
  const auto orders_of = [&](const std::string& table, const std::string& column) {
    return "select distinct order_id from " + prefix_ + table + " where " + column +
           (store_ == Store::kPostgres ? " = any($1)" : " in (select value from json_each($1))");
  };
  orders_ = &pipeline_->add_index(
      "orders", prefix_ + "order_documents",
      std::string(store_ == Store::kSqlite ? "json = ['customer', 'lines']\n" : "") +
          support::track(prefix_ + "orders") +
          support::track(prefix_ + "customers", {{"column", "_customer_id"}}) +
          support::track(prefix_ + "lines", {{"row", "order_id"}}) +
          support::track(prefix_ + "products", {{"keys", orders_of("lines", "product_id")}}),
      mapping());
  pipeline_->add_index("products", prefix_ + "product_documents", support::track(prefix_ + "products"),
                       kProducts);
  for (std::int64_t id = 0; id <= size_.products; ++id)
    orders_of_product_.push_back(number("select count(distinct order_id) from " + prefix_ +
                                        "lines where product_id = " + std::to_string(id)));
  for (std::int64_t id = 0; id <= size_.customers; ++id)
    orders_of_customer_.push_back(
        number("select count(*) from " + prefix_ + "orders where customer_id = " + std::to_string(id)));
}

ShopWork::Execute ShopWork::connect() const {
  if (store_ == Store::kPostgres) {
    return [connection = std::shared_ptr(postgres_->connect())](const std::string& sql) {
      support::execute(*connection, sql);
    };
  }
  return [application = std::make_shared<support::SqliteApplication>(folder_->path() / "shop.db")](
             const std::string& sql) { application->execute(sql); };
}

ShopWork::PopularChange ShopWork::popular_change(std::mt19937_64& random) const {
  const auto one_of = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(1, most)(random);
  };
  if (one_of(2) == 1) {
    const std::int64_t id = one_of(size_.products);
    return {"update " + prefix_ + "products set price = " + std::to_string(one_of(1'000'000)) +
                " where id = " + std::to_string(id),
            orders_of_product_[static_cast<std::size_t>(id)] + 1};
  }
  const std::int64_t id = one_of(size_.customers);
  return {"update " + prefix_ + "customers set name = 'customer " + std::to_string(one_of(1'000'000)) +
              "' where id = " + std::to_string(id),
          orders_of_customer_[static_cast<std::size_t>(id)]};
}

Change ShopWork::quiet_change(std::int64_t number) const {
  const std::string order = std::to_string(size_.orders + 1);
  const std::string note = "quiet " + std::to_string(number);
  return {"update " + prefix_ + "orders set note = '" + note + "' where id = " + order, order,
          '"' + note + '"'};
}

Change ShopWork::hot_change(std::int64_t number) const {
  const std::string order = std::to_string(1 + number * 37 % size_.orders);
  const std::string note = "hot " + std::to_string(number);
  return {"update " + prefix_ + "orders set note = '" + note + "' where id = " + order, order,
          '"' + note + '"'};
}

std::vector<ReadyDocument> ShopWork::ready_documents() {
  std::vector<ReadyDocument> documents;
  if (store_ == Store::kPostgres) {
    for (const pqxx::row& row :
         postgres_->query("select v._id::text, row_to_json(d)::text from shop.order_documents as v, "
                          "lateral (select v.note, v.customer, v.lines) as d order by v._id"))
      documents.push_back({row[0].c_str(), row[1].c_str()});
  } else {
    sqlite_->query(
        "select _id, json_object('note', note, 'customer', json(customer), 'lines', json(lines)) "
        "from order_documents order by _id",
        [&](char** values) {
          documents.push_back({values[0], values[1]});
        });
  }
  return documents;
}

std::int64_t ShopWork::number(const std::string& query) {
  return store_ == Store::kPostgres ? postgres_->number(query) : sqlite_->number(query);
}

}  // namespace lockstep::benchmarks
