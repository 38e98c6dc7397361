-- Where somebody's code runs with the rights of a superuser, one sentence a row.
--   $1  the pipeline
--   $2  name of lockstep's schema
select distinct 'table ' || quote_ident(n.nspname) || '.' || quote_ident(c.relname) || ' belongs to ' || quote_ident(o.rolname)
       || ', whose code can become superuser: its triggers run with the rights of ' || quote_ident(f.rolname)
       || '; run `lockstep apply` once as ' || quote_ident(f.rolname)
from pg_trigger as t
  join pg_proc as p on p.oid = t.tgfoid
  join pg_namespace as s on s.oid = p.pronamespace
  join pg_class as c on c.oid = t.tgrelid
  join pg_namespace as n on n.oid = c.relnamespace
  join pg_roles as o on o.oid = c.relowner
  join pg_roles as f on f.oid = p.proowner
where s.nspname = $2 and starts_with(p.proname, 'capture_' || $1::integer || '_') and f.rolsuper and not o.rolsuper
union all
select 'view ' || i.view || ' belongs to ' || quote_ident(o.rolname) || ', whose code can become superuser: source.url connects as '
       || quote_ident(me.rolname) || '; use a role that has no more than `lockstep plan --role NAME` prints'
from {schema}.index as i
  join pg_namespace as n on starts_with(i.view, quote_ident(n.nspname) || '.')
  join pg_class as c on c.relnamespace = n.oid and quote_ident(n.nspname) || '.' || quote_ident(c.relname) = i.view
  join pg_roles as o on o.oid = c.relowner
  join pg_roles as me on me.rolname = current_user
where i.pipeline = $1::integer and me.rolsuper and not o.rolsuper
