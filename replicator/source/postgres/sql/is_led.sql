-- Whether a session holds the advisory lock of the lead, which is a number of 64 bits in two halves.
--   $1  identity of the pipeline
select exists (
  select 1
  from pg_catalog.pg_locks as l
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended($1, 0)
)
