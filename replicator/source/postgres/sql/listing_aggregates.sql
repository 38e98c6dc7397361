-- Those of these functions ($1, oids) that make a list of rows, in the order in which they come.
select proname::text
from pg_proc
where oid = any($1::oid[])
  and pronamespace = 'pg_catalog'::regnamespace
  and proname in ('array_agg', 'json_agg', 'json_agg_strict', 'jsonb_agg', 'jsonb_agg_strict', 'string_agg', 'xmlagg')
