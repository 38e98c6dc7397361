-- Which database this is, the timeline, how far the WAL is flushed, and which table the checkpoint is: another
-- one once a dump was restored over it.
select {place},
       substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8),
       pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint,
       (select c.tableoid::text from {schema}.checkpoint as c limit 1)
