-- name: user_tables
-- The tables of users; a partition is part of its whole table.
--   $1  Lockstep's own schema
select c.oid, c.relname::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't'
  and n.nspname <> 'information_schema' and n.nspname not like 'pg\_%' and n.nspname <> $1
order by c.oid

-- name: user_indices
-- The columns that each index of a table begins with, as JSON arrays of quoted names; not those of a part of the rows.
select i.indrelid, json_agg(quote_ident(a.attname) order by u.place)::text
from pg_index as i
join pg_class as c on c.oid = i.indexrelid
join pg_am as m on m.oid = c.relam and m.amname in ('btree', 'hash')
cross join lateral unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as u(number, place)
join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = u.number
where i.indpred is null and i.indisvalid
  -- what comes behind an expression is of no use
  and not exists (select 1 from unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as e(number, place)
                  where e.number = 0 and e.place <= u.place)
group by i.indexrelid, i.indrelid

-- name: user_foreign_keys
-- Foreign keys; those from and to a partition are its whole table's. The columns are JSON arrays of quoted names, in the key's order.
-- A temporal key (PostgreSQL 18) ends with a period on each side, which is null for any other key.
select distinct
       coalesce(pg_partition_root(k.conrelid), k.conrelid)::oid,
       coalesce(pg_partition_root(k.confrelid), k.confrelid)::oid,
       (select json_agg(quote_ident(a.attname) order by u.place)::text
        from unnest(k.conkey) with ordinality as u(number, place)
        join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = u.number
        where u.place <= cardinality(k.conkey) - t.periods),
       (select json_agg(quote_ident(a.attname) order by u.place)::text
        from unnest(k.confkey) with ordinality as u(number, place)
        join pg_attribute as a on a.attrelid = k.confrelid and a.attnum = u.number
        where u.place <= cardinality(k.confkey) - t.periods),
       (select quote_ident(a.attname) from pg_attribute as a
        where t.periods = 1 and a.attrelid = k.conrelid and a.attnum = k.conkey[cardinality(k.conkey)]),
       (select quote_ident(a.attname) from pg_attribute as a
        where t.periods = 1 and a.attrelid = k.confrelid and a.attnum = k.confkey[cardinality(k.confkey)])
from pg_constraint as k
cross join lateral (select coalesce((to_jsonb(k) ->> 'conperiod')::boolean, false)::int) as t(periods)
where k.contype = 'f'
order by 1, 2, 3, 4

-- name: whole_table
-- A table, or the whole table of which it is a partition.
--   $1  oid
select coalesce(pg_partition_root($1::oid::regclass), $1::oid::regclass)::oid

-- name: value_kinds
-- What a type is for a mapping; of an array: what its elements are.
--   $1  oid of a type that is no domain
select b.typtype::text, case when n.nspname = 'pg_catalog' then b.typname::text else '' end, b.typcategory::text
from pg_type as t
join pg_type as e on e.oid = case when t.typcategory = 'A' and t.typelem <> 0 then t.typelem else t.oid end
join pg_type as b on b.oid = case when e.typtype = 'd' then e.typbasetype else e.oid end
join pg_namespace as n on n.oid = b.typnamespace
where t.oid = $1::oid

-- name: json_shapes
-- What the values of a column of JSON or of a composite type are, by some of them; of arrays: what their elements are.
--   {column}, {view}
select distinct jsonb_typeof(e.value)
from (
  select to_jsonb(v.{column}) as value from {view} as v where to_jsonb(v.{column}) is not null limit 100
) as s
cross join lateral jsonb_path_query(s.value, 'lax $[*]') as e(value)
where jsonb_typeof(e.value) <> 'null'
