-- Whether every pipeline has passed all rows of a leaf, since all of their transactions are visible in its snapshot, and no
-- large transaction is due whose documents are still to be found by one. A transaction that is open and has written nothing
-- into the leaf holds nothing up. What is due of an index that is set aside needs none: it will be compared. A limit makes the planner walk the index.
--   leaf  its quoted name
select not exists (
  select from {schema}.checkpoint as c
  where (select o.txid from {leaf} as o order by o.txid desc limit 1) >= pg_snapshot_xmax(c.prev)
    or exists (
      select
      from pg_snapshot_xip(c.prev) as running(txid)
        cross join lateral (select from {leaf} as o where o.txid = running.txid limit 1) as found)
) and not exists (
  select
  from {schema}.due as d
  where d.transaction is not null
    and not exists (select from {schema}.set_aside as a where a.index = d.index)
    and exists (select from {leaf} as o where o.txid = d.transaction and o.id > d.read_to)
)
