-- The triggers that call one of lockstep's functions.
--   $1  name of the schema
select t.tgrelid, t.tgrelid::regclass::text, t.tgname, quote_ident(t.tgname), p.proname, t.tgtype,
       t.tgenabled::text,
       coalesce(t.tgoldtable, '') in ('', 'old_rows') and coalesce(t.tgnewtable, '') in ('', 'new_rows')
         and t.tgqual is null and t.tgattr::text = ''
         and (t.tgoldtable is null) = (t.tgtype not in (8, 16)) and (t.tgnewtable is null) = (t.tgtype not in (4, 16))
from pg_trigger as t
join pg_proc as p on p.oid = t.tgfoid
join pg_namespace as n on n.oid = p.pronamespace
where n.nspname = $1 and not t.tgisinternal
order by 2, 3
