-- The tables of users; a partition is part of its whole table.
--   $1  lockstep's own schema
select c.oid, c.relname::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't'
  and n.nspname <> 'information_schema' and n.nspname not like 'pg\_%' and n.nspname <> $1
order by c.oid
