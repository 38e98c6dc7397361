-- Whether rows of the outbox that a snapshot sees are not acknowledged. The outbox is looked up in the same way as by the
-- tail: a range of transactions, and each of those that were still running before on its own.
--   $1  the pipeline's captures
--   $2  xmax of the checkpoint's snapshot
--   $3  the snapshot, $4 its xmax
--   $5  the transaction and $6 the id of the last row that is acknowledged of the open batch
--   $7  transactions that the checkpoint has seen running and the snapshot sees
--   $8  the open batch's snapshot, or null
select exists (
  select 1
  from {schema}.outbox as o
  where o.txid >= greatest($2::xid8, $5::xid8)
    and (o.txid, o.id) > (greatest($2::xid8, $5::xid8), case when $5::xid8 >= $2::xid8 then $6::bigint else 0 end)
    and o.txid < $4::xid8
    and pg_visible_in_snapshot(o.txid, $3::pg_snapshot) and o.capture = any($1::integer[])
) or exists (
  select 1
  from {schema}.outbox as o
  where o.txid = any($7::xid8[]) and o.capture = any($1::integer[])
    and not coalesce(
      pg_visible_in_snapshot(o.txid, nullif($8::text, '')::pg_snapshot) and (o.txid, o.id) <= ($5::xid8, $6::bigint), false)
)
