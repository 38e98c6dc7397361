-- The shop of schema/shop/postgresql for SQLite 3.38 and newer, row by row the same.
pragma journal_mode = wal;
begin;

create table customers (id integer primary key, name text not null, city text not null) strict;
create table products (id integer primary key, name text not null, price real not null) strict;
create table orders (
  id integer primary key,
  customer_id integer not null references customers (id),
  status text not null,
  placed_on date not null
);
create table lines (
  order_id integer not null references orders (id) on delete cascade,
  number integer not null,
  product_id integer not null references products (id),
  quantity integer not null,
  primary key (order_id, number)
) strict;
create index orders_customer_id on orders (customer_id);
create index lines_product_id on lines (product_id);

insert into customers
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 500)
select n,
       json_extract('["Ada", "Ben", "Cleo", "Dan", "Eve"]', '$[' || (n % 5) || ']') || ' ' ||
       json_extract('["Moss", "Hall", "Reed", "Wood"]', '$[' || (n % 4) || ']'),
       json_extract('["Lyon", "Oslo", "Porto", "Ghent"]', '$[' || (n % 4) || ']')
from numbers;
insert into products
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 60)
select n, json_extract('["pen", "lamp", "chair", "desk", "book", "clock"]', '$[' || (n % 6) || ']') || ' ' || n, 5 + n * 1.25
from numbers;
insert into orders
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000)
select n, iif(n % 2 = 1, 1, 2 + n / 2 % 499), json_extract('["sent", "paid", "new"]', '$[' || (n % 3) || ']'),
       date('2026-01-01', (n % 300) || ' days')
from numbers;
insert into lines
with recursive four (l) as (select 1 union all select l + 1 from four where l < 4)
select id, l, 1 + (id * 7 + l * 13) % 60, 1 + (id + l) % 3
from orders join four on l <= 1 + id % 4;

commit;
analyze;
