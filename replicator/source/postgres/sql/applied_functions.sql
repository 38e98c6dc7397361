-- The functions that `apply` has made in lockstep's schema.
--   $1  name of the schema
select p.proname, p.prosrc,
       coalesce((select string_agg(s.setting, e'\n' order by s.setting collate "C") from unnest(p.proconfig) as s(setting)), ''),
       p.prosecdef, pg_get_function_identity_arguments(p.oid)
from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
where n.nspname = $1 and (p.proname like 'capture\_%' or p.proname like 'resolve\_%')
order by 1
