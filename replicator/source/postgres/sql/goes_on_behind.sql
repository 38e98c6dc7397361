-- Whether a transaction has more rows than so many from one on.
--   $1, $2  the transaction, and the id of that row
--   $3      so many; it is looked through no further
select count(*) > $3::bigint
from (
  select 1
  from {schema}.outbox as o
  where o.txid = $1::xid8 and o.id >= $2::bigint
  order by o.txid, o.id
  limit (select $3::bigint + 1)
) as ahead
