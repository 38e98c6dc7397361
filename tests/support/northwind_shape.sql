-- A trading company in the shape of Northwind: short texts as keys, a table of links with more than links, employees who report to
-- one another, two tables of pure links, a table that nothing refers to.
create schema northwind;

create table northwind.categories (category_id smallint primary key, category_name varchar(15) not null, description text, picture bytea);
create table northwind.region (region_id smallint primary key, region_description varchar(60) not null);
create table northwind.territories (
  territory_id varchar(20) primary key, territory_description varchar(60) not null,
  region_id smallint not null references northwind.region
);
create table northwind.employees (
  employee_id smallint primary key, last_name varchar(20) not null, first_name varchar(10) not null, birth_date date, photo bytea,
  reports_to smallint references northwind.employees
);
create table northwind.employee_territories (
  employee_id smallint references northwind.employees on delete cascade,
  territory_id varchar(20) references northwind.territories on delete cascade,
  primary key (employee_id, territory_id)
);
create table northwind.customers (
  customer_id varchar(5) primary key, company_name varchar(40) not null, contact_name varchar(30), country varchar(15)
);
create table northwind.customer_demographics (customer_type_id varchar(5) primary key, customer_desc text);
create table northwind.customer_customer_demo (
  customer_id varchar(5) references northwind.customers on delete cascade,
  customer_type_id varchar(5) references northwind.customer_demographics on delete cascade,
  primary key (customer_id, customer_type_id)
);
create table northwind.suppliers (supplier_id smallint primary key, company_name varchar(40) not null, homepage text);
create table northwind.products (
  product_id smallint primary key, product_name varchar(40) not null, supplier_id smallint references northwind.suppliers,
  category_id smallint references northwind.categories, unit_price real, discontinued integer not null default 0
);
create table northwind.shippers (shipper_id smallint primary key, company_name varchar(40) not null, phone varchar(24));
create table northwind.orders (
  order_id smallint primary key, customer_id varchar(5) references northwind.customers, employee_id smallint references northwind.employees,
  order_date date, shipped_date date, ship_via smallint references northwind.shippers, freight real
);
create table northwind.order_details (
  order_id smallint references northwind.orders on delete cascade, product_id smallint references northwind.products,
  unit_price real not null, quantity smallint not null, discount real not null, primary key (order_id, product_id)
);
create table northwind.us_states (state_id smallint primary key, state_name varchar(100));

insert into northwind.categories select n, 'category ' || n, 'all of ' || n, '\x00ff' from generate_series(1, 5) as n;
insert into northwind.region select n, 'region ' || n from generate_series(1, 4) as n;
insert into northwind.territories select 't' || n, 'territory ' || n, n % 4 + 1 from generate_series(1, 12) as n;
insert into northwind.employees select n, 'last ' || n, 'first ' || n, date '1960-01-01' + n, null, nullif(n / 2, 0)
from generate_series(1, 9) as n;
insert into northwind.employee_territories select e, 't' || t from generate_series(1, 9) as e, generate_series(1, 12) as t where (e + t) % 4 = 0;
insert into northwind.customers select 'C' || n, 'company ' || n, 'contact ' || n, 'country ' || n % 3 from generate_series(1, 12) as n;
insert into northwind.customer_demographics select 'D' || n, 'kind ' || n from generate_series(1, 4) as n;
insert into northwind.customer_customer_demo select 'C' || c, 'D' || c % 4 + 1 from generate_series(1, 12) as c;
insert into northwind.suppliers select n, 'supplier ' || n, null from generate_series(1, 6) as n;
insert into northwind.products select n, 'product ' || n, n % 6 + 1, n % 5 + 1, n * 1.5 from generate_series(1, 12) as n;
insert into northwind.shippers select n, 'shipper ' || n, '555-' || n from generate_series(1, 3) as n;
insert into northwind.orders select n, 'C' || n % 12 + 1, n % 9 + 1, date '1996-07-04' + n, null, n % 3 + 1, n from generate_series(1, 40) as n;
insert into northwind.order_details select o, p, p, o % 7 + 1, 0 from generate_series(1, 40) as o, generate_series(1, 12) as p where (o + p) % 4 = 0;
