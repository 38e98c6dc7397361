-- The same where the server does not tell of its WAL: transactions count how far it has come.
select {place}, '', pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
       (select c.tableoid::text from {schema}.checkpoint as c limit 1)
