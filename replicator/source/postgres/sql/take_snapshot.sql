-- The transaction's snapshot, and what may_be_shown.sql asks, as far as it is known already.
--   wal  pg_current_wal_insert_lsn(): a position behind every commit that the snapshot sees; null: the server does not tell
--   is_flushed  whether the WAL is flushed until there; may_be_shown.sql says what of
--   $1   pipeline
select pg_current_snapshot()::text, {wal}::text, current_setting('synchronous_standby_names') = '' and {is_flushed},
       (select epoch from {schema}.checkpoint where pipeline = $1)
