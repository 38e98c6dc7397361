-- Whether rows of the outbox that one transaction has written are not acknowledged.
--   $1  the pipeline's captures
--   $2  the transaction, which the checkpoint's snapshot does not see
--   $3  the open batch's snapshot, or null
--   $4  the transaction and $5 the id of the last row that is acknowledged of that batch
select exists (
  select 1
  from {schema}.outbox as o
  where o.txid = $2::xid8 and o.capture = any($1::integer[])
    and not coalesce(
      pg_visible_in_snapshot(o.txid, nullif($3::text, '')::pg_snapshot) and (o.txid, o.id) <= ($4::xid8, $5::bigint), false)
)
