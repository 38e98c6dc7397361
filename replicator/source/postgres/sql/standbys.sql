-- The sessions that would lead a pipeline: each asks again and again for the lock of the lead. Only those whose role is ours, or
-- that our role may see.
--   $1  what such a session calls itself; the server cuts that off
--   $2  process of the session that leads, 0: none
select coalesce(host(a.client_addr), ''), to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
from pg_stat_activity as a
where a.datname = current_database() and a.application_name = $1::name::text and a.pid <> $2
order by a.backend_start, a.pid
