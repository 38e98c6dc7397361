-- Those of these functions ($1, oids) whose value depends on the order in which rows come: they list them, or number or compare them
-- in a window.
select proname::text
from pg_proc
where oid = any($1::oid[])
  and pronamespace = 'pg_catalog'::regnamespace
  and proname in ('array_agg', 'json_agg', 'json_agg_strict', 'jsonb_agg', 'jsonb_agg_strict', 'string_agg', 'xmlagg',
                  'row_number', 'ntile', 'lag', 'lead', 'first_value', 'last_value', 'nth_value')
