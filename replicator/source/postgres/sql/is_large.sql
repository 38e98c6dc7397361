-- The name of a relation that has more than so many pages; no row: it has not.
--   $1, $2  its schema and its name
--   $3      pages
select c.oid::regclass::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where n.nspname = $1 and c.relname = $2
  and pg_relation_size(c.oid) > $3::bigint * current_setting('block_size')::bigint
