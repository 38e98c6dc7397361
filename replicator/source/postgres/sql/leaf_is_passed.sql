-- Whether every pipeline has passed all rows of a leaf: all of their transactions are visible in its snapshot. A transaction
-- that is open and has written nothing into the leaf holds nothing up. A limit makes the planner walk the index.
--   leaf  its quoted name
select not exists (
  select from {schema}.checkpoint as c
  where (select o.txid from {leaf} as o order by o.txid desc limit 1) >= pg_snapshot_xmax(c.prev)
    or exists (
      select
      from pg_snapshot_xip(c.prev) as running(txid)
        cross join lateral (select from {leaf} as o where o.txid = running.txid limit 1) as found))
