-- The functions that say whether the triggers of a pipeline's tables still fit them (capture_check.sql), and whether the
-- current user may call them.
--   $1  the pipeline
--   $2  name of lockstep's schema
select quote_ident(n.nspname) || '.' || quote_ident(p.proname) || '()', has_function_privilege(p.oid, 'execute')
from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
where n.nspname = $2 and starts_with(p.proname, 'capture_' || $1::integer || '_') and p.proname like '%\_check'
order by 1
