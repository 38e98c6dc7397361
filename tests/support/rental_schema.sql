-- A shop that lends films: what real schemas have and examples have not. Two keys from one table to another, tables of links
-- with a column more, a key of two columns, partitions that have the foreign keys, a table without any, names that need quotes.
create schema rental;
create schema search;

create type rental.rating as enum ('G', 'PG', 'R');
create table rental.languages (id integer primary key, name varchar(20) not null);
create table rental.films (
  id integer primary key,
  title text not null,
  code text not null,
  rating rental.rating,
  price numeric(6, 2),
  released date,
  tags text[],
  facts jsonb,
  language_id integer not null references rental.languages,
  original_language_id integer references rental.languages,
  updated_at timestamptz not null default '2026-01-01 00:00:00.123456+00'
);
create table rental.actors (id integer primary key, name text not null);
create table rental.film_actors (
  actor_id integer references rental.actors on delete cascade,
  film_id integer references rental.films on delete cascade,
  updated_at timestamptz not null default now(),
  primary key (actor_id, film_id)
);
create table rental.reviews (code text not null, stars smallint not null); -- of the film with this code
create table rental.cities (id integer primary key, name text not null);
create table rental."Stores" (id integer primary key, "Name" text not null, city_id integer not null references rental.cities);
create table rental.copies (
  store_id integer references rental."Stores", number integer,
  film_id integer not null references rental.films on delete cascade,
  primary key (store_id, number)
);
create table rental.customers (
  id bigint primary key, name text not null, active boolean not null default true,
  city_id integer references rental.cities,
  recruited_by bigint references rental.customers on delete set null
);
create table rental.loans (
  id bigint primary key,
  customer_id bigint not null references rental.customers on delete cascade,
  store_id integer not null, number integer not null,
  foreign key (store_id, number) references rental.copies on delete cascade
);
create table rental.payments (
  id bigint not null, paid_on date not null, amount numeric not null, customer_id bigint not null, primary key (paid_on, id)
) partition by range (paid_on);
create table rental.payments_2025 partition of rental.payments for values from ('2025-01-01') to ('2026-01-01');
create table rental.payments_2026 partition of rental.payments for values from ('2026-01-01') to ('2027-01-01');
alter table rental.payments_2025 add foreign key (customer_id) references rental.customers on delete cascade;
alter table rental.payments_2026 add foreign key (customer_id) references rental.customers on delete cascade;

insert into rental.languages select n, 'language ' || n from generate_series(1, 4) as n;
insert into rental.films (id, title, code, rating, price, released, tags, facts, language_id, original_language_id)
select n, 'film ' || n, 'code-' || n, 'PG', n * 0.99, date '1990-01-01' + n, array['new', 'tag ' || n], jsonb_build_object('minutes', n),
       n % 4 + 1, nullif(n % 5, 0)
from generate_series(1, 20) as n where n % 5 < 5;
insert into rental.actors select n, 'actor ' || n from generate_series(1, 10) as n;
insert into rental.film_actors select a, f from generate_series(1, 10) as a, generate_series(1, 20) as f where (a + f) % 4 = 0;
insert into rental.reviews select 'code-' || n % 20 + 1, n % 5 from generate_series(1, 30) as n;
insert into rental.cities select n, 'city ' || n from generate_series(1, 5) as n;
insert into rental."Stores" select n, 'store ' || n, n from generate_series(1, 3) as n;
insert into rental.copies select s, n, n % 20 + 1 from generate_series(1, 3) as s, generate_series(1, 20) as n;
insert into rental.customers select n, 'customer ' || n, true, n % 5 + 1, nullif(n - 1, 0) from generate_series(1, 10) as n;
insert into rental.loans select n, n % 10 + 1, n % 3 + 1, n % 20 + 1 from generate_series(1, 40) as n;
insert into rental.payments
select n, date '2025-06-01' + n * 10, n, n % 10 + 1 from generate_series(1, 50) as n;

create view search.films as
select f.id as _id, f.title, f.rating, f.price, f.released, f.tags, f.facts, l.name as language, o.name as original_language,
       (select json_agg(json_build_object('id', a.id, 'name', a.name) order by a.id)
        from rental.film_actors as fa join rental.actors as a on a.id = fa.actor_id where fa.film_id = f.id) as actors,
       (select json_agg(distinct s."Name")
        from rental.copies as c join rental."Stores" as s on s.id = c.store_id where c.film_id = f.id) as stores,
       (select count(*) from rental.loans as n join rental.copies as c on c.store_id = n.store_id and c.number = n.number
        where c.film_id = f.id) as loans,
       (select avg(r.stars) from rental.reviews as r where r.code = f.code) as stars
from rental.films as f
join rental.languages as l on l.id = f.language_id
left join rental.languages as o on o.id = f.original_language_id;
