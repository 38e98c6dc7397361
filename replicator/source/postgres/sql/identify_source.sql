-- Which database this is, the timeline, and how far the WAL is flushed.
select {place},
       substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8),
       pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint
