-- name: server_facts
-- What can be wrong with a server before anything else is looked at.
select pg_is_in_recovery(), current_setting('server_version_num')::integer, current_setting('server_version'),
       current_setting('server_encoding'), current_database(), current_user,
       has_database_privilege(current_database(), 'create'),
       coalesce((select pg_has_role(n.nspowner, 'usage') from pg_namespace as n where n.nspname = $1), false),
       (select pg_get_userbyid(n.nspowner) from pg_namespace as n where n.nspname = $1),
       current_setting('default_transaction_read_only')::boolean

-- name: table_facts
-- What can keep a table's changes from its triggers, or a query from its rows.
--   $1  oid
-- The hole "subscribed" is is_subscribed.sql, of table c.oid.
select c.relpersistence::text,
       pg_has_role(c.relowner, 'usage'), quote_ident(pg_get_userbyid(c.relowner)),
       c.relrowsecurity and c.relforcerowsecurity and not r.rolsuper and not r.rolbypassrls,
       {subscribed}
from pg_class as c, pg_roles as r
where c.oid = $1::oid and r.rolname = current_user

-- name: is_large
-- The name of a relation that has more than so many pages; no row: it does not. A partition represents the whole table.
--   $1, $2  its schema and its name
--   $3      pages
select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = $1 and c.relname = $2
  and case when c.relispartition then (select sum(pg_relation_size(t.relid)) from pg_partition_tree(pg_partition_root(c.oid)) as t)
           else pg_relation_size(c.oid) end > $3::bigint * current_setting('block_size')::bigint

-- name: search_path_of
-- The statement that gives a function the search_path of a new session, unless it has one of its own or needs none.
--   $1  oid of the function
select 'alter ' || case p.prokind when 'p' then 'procedure ' else 'function ' end || p.oid::regprocedure
       || ' set search_path = ' || s.reset_val
from pg_proc as p
  join pg_language as l on l.oid = p.prolang
  join pg_settings as s on s.name = 'search_path'
where p.oid = $1::oid and p.prokind <> 'a' and l.lanname not in ('c', 'internal')
  and to_jsonb(p) ->> 'prosqlbody' is null     -- PostgreSQL 13 has no such column
  and not exists (select from unnest(p.proconfig) as c(setting) where starts_with(c.setting, 'search_path='))

-- name: sample_ids
-- Faults of a view's _id, judged by some of its rows.
--   {view}
-- Rows looked at, those without _id, one _id that several rows of the whole view have, the longest in bytes.
with sample as materialized (
  select v._id from {view} as v limit 1000
)
select (select count(*) from sample), (select count(*) from sample where _id is null),
       (select v._id::text from {view} as v
        where v._id = any(array(select _id from sample where _id is not null limit 200))
        group by v._id having count(*) > 1 limit 1),
       (select max(octet_length(_id::text)) from sample)

-- name: compare_values
-- Whether values that a track takes as ids are ids of its view, judged by some rows.
--   {expression}, {relation}, {alias}  the captures of which table
--   {view}, {id_type}
-- Values looked at, documents that have one of them as their id, whether there are documents at all; and where no
-- document has one, whether ids of some documents are values of the table: a view may keep few of its rows.
with sample as materialized (
  select ({expression}
         )::text as value
  from {relation} as {alias} limit 100
), found as materialized (
  select count(*) as documents from {view} as v
  where v._id = any(array(select value::{id_type} from sample where value is not null))
)
select (select count(*) from sample where value is not null),
       (select documents from found),
       exists (select from {view}),
       case when (select documents from found) = 0 then
         exists (select from {relation} as {alias}
                 where ({expression}
                       )::text = any(array(select v._id::text from {view} as v limit 100)))
       else false end

-- name: first_column_of_tree
-- The first column of a btree index, quoted; no row where it is an expression, or the index is of another kind: those are
-- entered by more than their first column.
--   $1, $2  the index's schema and its name
select quote_ident(a.attname)
from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  join pg_am as m on m.oid = c.relam and m.amname = 'btree'
  join pg_index as i on i.indexrelid = c.oid
  join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
where n.nspname = $1 and c.relname = $2

-- name: references_elsewhere
-- The tables that a column refers to by foreign keys, when none of them leads to the rows that another column names.
--   $1, $2  the column's table and its name, quoted
--   $3, $4  table and number of the other column
with recursive known (oid, number, side, steps) as (
  select v.oid, v.number, v.side, 0
  from (select a.attrelid, a.attnum, 'value' from pg_attribute as a where a.attrelid = $1::oid and quote_ident(a.attname) = $2
        union all
        select $3::oid, $4::smallint, 'id') as v(oid, number, side)
  union
  select c.confrelid, c.confkey[1], k.side, 1
  from known as k
    join pg_constraint as c on c.contype = 'f' and c.conrelid = k.oid and c.conkey = array[k.number]
)
select string_agg(distinct v.oid::regclass::text, ', ')
from known as v
where v.side = 'value' and v.steps > 0
  and not exists (select from known as o join known as i on i.oid = o.oid and i.number = o.number
                  where o.side = 'value' and i.side = 'id')
