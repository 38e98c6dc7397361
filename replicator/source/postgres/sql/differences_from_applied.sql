-- What is no longer as the last apply left it, but for views (read_definitions.sql), or belongs to nothing: whether changes are
-- lost, and one sentence.
--   $1  the pipeline
--   $2  name of lockstep's schema
--   $3  the indices whose view is named as changed
-- The hole "subscribed" is is_subscribed.sql, of w.oid.
with recursive members (relation, oid) as (
  -- By the catalog: to_regclass would want the right to use the schema.
  select t.relation, c.oid
  from (select distinct c.relation from {schema}.capture as c where c.pipeline = $1) as t
    left join (pg_class as c join pg_namespace as n on n.oid = c.relnamespace)
      on n.nspname = (parse_ident(t.relation))[1] and c.relname = (parse_ident(t.relation))[2]
  union
  select m.relation, i.inhrelid
  from members as m join pg_inherits as i on i.inhparent = m.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
), lettered as (
  -- One step in the primary key for each index.
  select min(d.index) as index from {schema}.dead_letter as d
  union
  select (select min(d.index) from {schema}.dead_letter as d where d.index > l.index)
  from lettered as l
  where l.index is not null
), watched as (
  select m.relation, m.oid, quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name,
         (select count(*)
          from pg_trigger as t
            join pg_proc as p on p.oid = t.tgfoid
            join pg_namespace as s on s.oid = p.pronamespace
          where t.tgrelid = m.oid and t.tgenabled = 'A' and s.nspname = $2
            and starts_with(p.proname, 'capture_' || $1 || '_')) as triggers
  from members as m
    left join pg_class as c on c.oid = m.oid
    left join pg_namespace as n on n.oid = c.relnamespace
  where c.relkind is distinct from 'f'
)
select true,
       case when w.oid is null then 'table ' || w.relation || ' is gone or has another name'
            else 'changes of ' || w.name || ' are not followed, since triggers of it are missing or disabled' end
       || '; run `lockstep apply`'
from watched as w
where w.oid is null or w.triggers < 4
union all
select false, 'index ' || i.alias || ': its documents have no ' || k.names || ', which view ' || i.view || ' has; run `lockstep apply`'
from {schema}.index as i
  join pg_namespace as n on n.nspname = (parse_ident(i.view))[1]
  join pg_class as c on c.relnamespace = n.oid and c.relname = (parse_ident(i.view))[2]
  cross join lateral (
    -- A kept generation continues without what its view got later.
    select string_agg(a.attname, ', ' order by a.attnum) as names
    from pg_attribute as a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and not starts_with(a.attname::text, '_')
      and a.attname <> all (i.fields)
      and not exists (select from {schema}.reindex as r where r.beside = i.id and r.kept_until is not null)) as k
where i.pipeline = $1 and k.names is not null and i.id <> all($3::integer[])
union all
select false, p.name || ' is no part of ' || p.relation || ' any more, and the documents of its rows are still there; a running service sees to them within seconds, and `lockstep apply` does'
from {schema}.part as p
where p.pipeline = $1 and exists (select from members as m where m.relation = p.relation and m.oid is not null)
  and not exists (select from members as m where m.relation = p.relation and m.oid = p.table_oid)
union all
select false, p.name || ', a part of ' || p.relation || ', is below other tables now, or was attached again, and the documents of its rows may be out of date; a running service sees to them within seconds, and `lockstep apply` does'
from {schema}.part as p
where p.pipeline = $1 and exists (select from members as m where m.relation = p.relation and m.oid = p.table_oid)
  and p.above <> {schema}.tables_above(p.table_oid)
union all
select false, 'lockstep''s table ' || s.name || ' has a row of index ' || coalesce(s.index::text, 'null')
       || ', which no pipeline has; something else wrote it: delete the row'
from (
  select 'set_aside', a.index from {schema}.set_aside as a
  union
  select 'dead_letter', l.index from lettered as l where l.index is not null
) as s(name, index)
where not exists (select 1 from {schema}.index as i where i.id = s.index)
union all
select false, 'job ' || j.id || ' is of index ' || coalesce(j.index::text, 'null')
       || ', which this pipeline does not have, so nobody does it; something else wrote it: correct it or delete it'
from {schema}.job as j
where j.pipeline = $1
  and not exists (select 1 from {schema}.index as i where i.id = j.index and i.pipeline = j.pipeline)
union all
select true, 'changes of ' || w.name || ' that a subscription makes are not followed, since they fire no statement trigger; '
       || 'let source.url lead to the publisher, or run `lockstep verify --repair` after them'
from watched as w
where {subscribed}
union all
select false, 'triggers take ' || s.name || ' for ' || s.value || ', and lockstep''s session has ' || current_setting(s.name)
       || ', so documents of changed rows may not be found; run `lockstep apply`'
from (select distinct split_part(c.setting, '=', 1), substr(c.setting, strpos(c.setting, '=') + 1)
      from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        cross join unnest(p.proconfig) as c(setting)
      where n.nspname = $2 and starts_with(p.proname, 'capture_' || $1 || '_')) as s(name, value)
where s.name not in ('search_path', 'lock_timeout') and s.value <> current_setting(s.name)
