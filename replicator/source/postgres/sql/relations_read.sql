-- The relations, without lockstep's own, that the current transaction has looked at: PostgreSQL locks what a statement
-- names, and what views in it name, before it plans or runs anything.
--   {schema_name}  name of lockstep's schema, as a literal
select distinct c.oid
from pg_locks as l
  join pg_class as c on c.oid = l.relation
  join pg_namespace as n on n.oid = c.relnamespace
where l.pid = pg_backend_pid() and l.locktype = 'relation' and c.oid >= 16384 and n.nspname <> {schema_name}
  and l.database = (select d.oid from pg_database as d where d.datname = current_database())
