-- Which database this is: the cluster and the database, the timeline, and how far the WAL is flushed.
select (pg_control_system()).system_identifier || '/' || d.oid,
       substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8),
       pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint
from pg_catalog.pg_database as d
where d.datname = current_database()
