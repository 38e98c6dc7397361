-- Which database this is, as which the last leader knew it, the timeline, how far the WAL is flushed, and which table the
-- checkpoint is: another one once a dump was restored over it.
--   $1  the pipeline
--   place, unnamed_place  as in session/place.h
select {place}, {unnamed_place},
       coalesce(c.partners ->> 'place', ''),
       coalesce(c.partners ->> 'unnamed_place', c.partners ->> 'place', ''),
       substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8),
       pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint,
       c.tableoid::text
from (select $1::integer as pipeline) as p
  left join {schema}.checkpoint as c on c.pipeline = p.pipeline
