-- The locks that sessions of the leader wait for, and who holds each. Whoever waits for the same lock before us counts, too.
--   $1  what the leader's own session calls itself; the server cuts that off
select distinct case w.application_name
         when $1::name::text then 'loop'
         when ($1 || ', pages of jobs')::name::text then 'pages'
         when ($1 || ', large changes')::name::text then 'lists'
         else 'loop' end,
       coalesce(l.relation::regclass::text, ''), b.pid, coalesce(quote_ident(u.rolname), ''), coalesce(h.application_name, '')
from pg_stat_activity as w
  cross join lateral unnest(pg_blocking_pids(w.pid)) as b(pid)
  left join pg_locks as l on l.pid = w.pid and not l.granted
  left join pg_stat_activity as h on h.pid = b.pid
  left join pg_roles as u on u.oid = h.usesysid
where w.datname = current_database() and w.usename = current_user and w.wait_event_type = 'Lock'
  and w.application_name in ($1::name::text, ($1 || ', pages of jobs')::name::text, ($1 || ', large changes')::name::text,
                             current_setting('application_name'))
order by 1, 2, 3
