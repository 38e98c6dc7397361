-- The tracked tables of which parts have come or gone since somebody looked last, each with the function that follows them
-- (capture_parts.sql, which names the table); null: there is none.
--   $1  the pipeline
--   $2  name of lockstep's schema
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
)
select t.relation,
       (select quote_ident(n.nspname) || '.' || quote_ident(p.proname)
        from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = $2 and starts_with(p.proname, 'capture_' || $1 || '_') and p.proname like '%\_parts'
          and position('to_regclass(' || quote_literal(t.relation) || ')' in p.prosrc) > 0)
from tracked as t
where t.oid is not null
  and exists (
    select
    from (select m.oid from members as m where m.relation = t.relation) as m
      full join (select p.table_oid, p.above from {schema}.part as p where p.pipeline = $1 and p.relation = t.relation) as k
        on k.table_oid = m.oid
    where m.oid is null or k.table_oid is null or k.above <> {schema}.tables_above(m.oid))
order by 1
