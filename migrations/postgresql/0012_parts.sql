-- oldest program: 9
-- The parts that a tracked table had when somebody looked last: its partitions and the tables that inherit from it, at any depth. No
-- trigger fires when one is attached, detached, moved or dropped, so this is compared with the catalog.
create table if not exists {schema}.part (
  pipeline  integer not null references {schema}.pipeline on delete cascade,
  relation  text not null,           -- the tracked table, quoted, schema-qualified
  table_oid oid  not null,
  name      text not null,           -- quoted, schema-qualified, as it was then
  above     oid[] not null,          -- all tables of which it is a part, at any depth
  primary key (pipeline, relation, table_oid)
);
comment on table {schema}.part is 'partitions and inheriting tables that are followed';

-- All tables of which a table is a part, at any depth. By the index of pg_inherits: the planner would read all of that at each
-- step, two seconds for each look at a thousand partitions.
create or replace function {schema}.tables_above(part oid) returns oid[]
language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $lockstep$
  with recursive above (oid) as (
    select i.inhparent from pg_inherits as i
    where i.inhrelid = part and (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
    union
    select i.inhparent from above as a join pg_inherits as i on i.inhrelid = a.oid
    where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
  )
  select coalesce(array_agg(a.oid order by a.oid), '{}') from above as a
$lockstep$;
revoke all on function {schema}.tables_above(oid) from public;
