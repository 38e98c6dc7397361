-- Whether Elasticsearch has acknowledged every row of the outbox that a snapshot sees, by the checkpoint.
--   $1  the pipeline
--   $2  the snapshot
--   $3  the pipeline's captures
select not exists (
  select 1
  from {schema}.checkpoint as c
    cross join lateral (
      select 1
      from {schema}.outbox as o
      where o.txid >= pg_snapshot_xmin(c.prev) and o.txid < pg_snapshot_xmax($2::pg_snapshot)
        and pg_visible_in_snapshot(o.txid, $2::pg_snapshot)
        and not pg_visible_in_snapshot(o.txid, c.prev)
        and o.capture = any($3::integer[])
      limit 1
    ) as pending
  where c.pipeline = $1
)
