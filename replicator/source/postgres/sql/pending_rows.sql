-- The rows b of the outbox that the checkpoint c of the pipeline p has not passed: a part of a statement, from its "from" on.
from {schema}.outbox as b
where b.txid >= pg_snapshot_xmin(c.prev)
  and not pg_visible_in_snapshot(b.txid, c.prev)
  and not coalesce(
    pg_visible_in_snapshot(b.txid, c.cur) and (b.txid, b.id) <= (c.last_txid, c.last_id), false)
  and b.capture = any(array(select k.id from {schema}.capture as k where k.pipeline = p.id))
