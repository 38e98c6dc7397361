-- A part of read_outbox.sql: the rows of one late transaction. Each is looked up by itself, because one query over
-- all of them makes the planner walk the whole outbox.
--   txid   the transaction
--   after  id behind which its rows are read
union all
(select o.txid, o.id, o.capture, o.keys, o.at
 from {schema}.outbox as o
 where o.txid = '{txid}' and o.id > {after}
 order by o.txid, o.id
 limit (select $1::bigint))
