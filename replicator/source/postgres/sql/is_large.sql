-- The name of a relation that has more than so many pages; no row: it has not. A partition stands for the whole table.
--   $1, $2  its schema and its name
--   $3      pages
select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = $1 and c.relname = $2
  and case when c.relispartition then (select sum(pg_relation_size(t.relid)) from pg_partition_tree(pg_partition_root(c.oid)) as t)
           else pg_relation_size(c.oid) end > $3::bigint * current_setting('block_size')::bigint
