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
