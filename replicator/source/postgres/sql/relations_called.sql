-- Relations in any schema that have this name.
--   $1  name, without a schema
select c.oid::regclass::text
from pg_class as c
where c.relname = $1 and c.relkind in ('r', 'p', 'v', 'm', 'f') and not pg_is_other_temp_schema(c.relnamespace)
order by 1
limit 3
