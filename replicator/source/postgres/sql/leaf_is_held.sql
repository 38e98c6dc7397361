-- Whether somebody else holds a leaf, so that emptying it would have to wait: a transaction that has written into it, open
-- or prepared, or a backup. Asked first, since a lock that is refused is an error in the server's log.
--   $1  its quoted name
select exists (
  select
  from pg_locks as l
  where l.relation = $1::regclass and l.granted and l.pid is distinct from pg_backend_pid()
    and l.database = (select d.oid from pg_database as d where d.datname = current_database()))
