-- A shop with 20,000 orders, always the same. Customer 1 has every second one of them.
create schema shop;
create schema search;

create table shop.customers (id integer primary key, name text not null, city text not null);
create table shop.products (id integer primary key, name text not null, price numeric(8, 2) not null);
create table shop.orders (
  id integer primary key,
  customer_id integer not null references shop.customers,
  status text not null,
  placed_on date not null
);
create table shop.lines (
  order_id integer not null references shop.orders on delete cascade,
  number integer not null,
  product_id integer not null references shop.products,
  quantity integer not null,
  primary key (order_id, number)
);
create index on shop.orders (customer_id);
create index on shop.lines (product_id);

insert into shop.customers
select n, (array['Ada', 'Ben', 'Cleo', 'Dan', 'Eve'])[1 + n % 5] || ' ' || (array['Moss', 'Hall', 'Reed', 'Wood'])[1 + n % 4],
       (array['Lyon', 'Oslo', 'Porto', 'Ghent'])[1 + n % 4]
from generate_series(1, 500) as n;
insert into shop.products
select n, (array['pen', 'lamp', 'chair', 'desk', 'book', 'clock'])[1 + n % 6] || ' ' || n, 5 + n * 1.25
from generate_series(1, 60) as n;
insert into shop.orders
select n, case when n % 2 = 1 then 1 else 2 + n / 2 % 499 end, (array['sent', 'paid', 'new'])[1 + n % 3],
       date '2026-01-01' + n % 300
from generate_series(1, 20000) as n;
insert into shop.lines
select o, l, 1 + (o * 7 + l * 13) % 60, 1 + (o + l) % 3
from generate_series(1, 20000) as o cross join lateral generate_series(1, 1 + o % 4) as l;
analyze;
