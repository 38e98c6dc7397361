-- The table whose shape the schema changer changes: rows shown whole, in partitions that come and go.
create type chaos.mood as enum ('calm', 'glad');

create table chaos.shapes (
  id   integer,
  part text,
  n    bigint not null,
  a    text,
  mood chaos.mood default 'calm',
  primary key (id, part)
) partition by list (part);
create table chaos.shapes_a partition of chaos.shapes for values in ('a');
create table chaos.shapes_b partition of chaos.shapes for values in ('b');
create table chaos.shapes_c partition of chaos.shapes for values in ('c');
create index on chaos.shapes ((part || '/' || id::text));

create function chaos.shown(n bigint) returns text language sql stable as $$select 'n ' || n$$;

create view search.shapes as
select s.part || '/' || s.id as _id, s.n, chaos.shown(s.n) as shown, to_jsonb(s) as "row"
from chaos.shapes s;

insert into chaos.shapes (id, part, n)
select i, p, nextval('chaos.revision') from generate_series(1, 400) as i, unnest(array['a', 'b', 'c']) as p;
