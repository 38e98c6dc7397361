-- The epoch in this transaction's snapshot, and whether what the snapshot sees is durable without a commit.
--   $1  pipeline
--   $2  a position in the WAL behind every commit that the snapshot sees; null: where the WAL ends now
-- A commit becomes visible after its record is in the WAL and, unless its writer does not care (synchronous_commit = off),
-- flushed. With synchronous replication the flush here is not enough: only a commit waits for the standbys.
select epoch,
       pg_current_xact_id_if_assigned() is null
       and current_setting('synchronous_standby_names') = ''
       and pg_current_wal_flush_lsn() >= coalesce($2::pg_lsn, pg_current_wal_insert_lsn())
from {schema}.checkpoint
where pipeline = $1
