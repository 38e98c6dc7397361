-- The parts of tracked tables that have come, gone or moved and are not followed yet: the tracked table, the function that
-- follows its parts (capture_parts.sql, which names the table; null: there is none), the part's oid, and what has happened.
--   $1  the pipeline
--   $2  name of lockstep's schema
-- All tables above all parts in one recursion, as tables_above() has them for each, since `wait` asks this each time.
with recursive tracked as (
  -- By the catalog: to_regclass would want the right to use the schema.
  select t.relation, (select c.oid
                      from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
                      where n.nspname = (parse_ident(t.relation))[1] and c.relname = (parse_ident(t.relation))[2]) as oid
  from (select distinct c.relation from {schema}.capture as c where c.pipeline = $1) as t
), members (relation, oid) as (
  select t.relation, i.inhrelid
  from tracked as t join pg_inherits as i on i.inhparent = t.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
  union
  select m.relation, i.inhrelid
  from members as m join pg_inherits as i on i.inhparent = m.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
), above (part, oid, since) as (
  select i.inhrelid, i.inhparent, i.xmin::text
  from (select distinct m.oid from members as m) as m join pg_inherits as i on i.inhrelid = m.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
  union
  select a.part, i.inhparent, i.xmin::text
  from above as a join pg_inherits as i on i.inhrelid = a.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
), memberships as (
  select m.relation, m.oid, a.above
  from members as m
    join (select a.part, array_agg(a.oid || ' ' || a.since order by a.oid, a.since collate "C") as above
          from above as a
          group by a.part) as a on a.part = m.oid
)
select t.relation,
       (select quote_ident(n.nspname) || '.' || quote_ident(p.proname)
        from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = $2 and starts_with(p.proname, 'capture_' || $1 || '_') and p.proname like '%\_parts'
          and position('to_regclass(' || quote_literal(t.relation) || ')' in p.prosrc) > 0),
       d.oid,
       case when d.has_left then d.name || ' is no part of ' || t.relation || ' any more'
            when d.name is null then (select quote_ident(n.nspname) || '.' || quote_ident(c.relname)
                                      from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
                                      where c.oid = d.oid) || ' is a new part of ' || t.relation
            else d.name || ', a part of ' || t.relation || ', is below other tables now, or was attached again' end
from tracked as t
  join (select coalesce(m.relation, k.relation) as relation, coalesce(m.oid, k.table_oid) as oid, m.oid is null as has_left, k.name
        from memberships as m
          full join (select p.relation, p.table_oid, p.name, p.above from {schema}.part as p where p.pipeline = $1) as k
            on k.relation = m.relation and k.table_oid = m.oid
        where m.oid is null or k.table_oid is null or k.above <> m.above) as d on d.relation = t.relation
where t.oid is not null
order by 1, 3
