-- The sessions that hold a table in a way that keeps its rows from being noted: what `share row exclusive` conflicts with.
--   $1  oid of the table
select distinct l.relation::regclass::text, coalesce(l.pid, 0), coalesce(quote_ident(u.rolname), ''),
       coalesce(a.application_name, '')
from pg_locks as l
  left join pg_stat_activity as a on a.pid = l.pid
  left join pg_roles as u on u.oid = a.usesysid
where l.locktype = 'relation' and l.relation = $1::oid and l.granted and l.pid is distinct from pg_backend_pid()
  and l.database = (select d.oid from pg_database as d where d.datname = current_database())
  and l.mode not in ('AccessShareLock', 'RowShareLock')
order by 2
