-- name: outbox_maintenance
-- The leaves of the outbox: slot, bytes on disk, how many of them are noted as passed, whether transactions write into it,
-- whether it has no rows on disk, and the smallest max_outbox_size of the schema's pipelines, null without one.
select l.slot, l.bytes, l.passed, l.is_written, l.is_empty, (select min(p.max_outbox_size) from {schema}.pipeline as p)
from {schema}.outbox_leaves() as l
order by l.slot

-- name: outbox_leaves
-- The names of the outbox's leaves, as the first migration has made them.
select 'outbox_' || l.slot, l.slot
from generate_series(0, 2) as l(slot)
order by l.slot

-- name: leaf_is_held
-- Whether another session holds a leaf, so that emptying it would have to wait: a transaction that has written into it, open
-- or prepared, or a backup. Asked first, since a refused lock is an error in the server's log.
--   $1  its quoted name
select exists (
  select
  from pg_locks as l
  where l.relation = $1::regclass and l.granted and l.pid is distinct from pg_backend_pid()
    and l.database = (select d.oid from pg_database as d where d.datname = current_database()))

-- name: leaf_is_passed
-- Whether every pipeline has passed all rows of a leaf, since all of their transactions are visible in its snapshot, and no
-- large transaction is due whose documents are still to be found by one. A transaction that is open and has written nothing
-- into the leaf does not matter. A paused index's due documents need none: it will be compared. A limit makes the planner
-- walk the index.
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

-- name: part_holders
-- The sessions that hold a table in a way that keeps its rows from being noted: what `share row exclusive` conflicts with.
--   $1  oid of the table
select distinct l.relation::regclass::text, coalesce(l.pid, 0), coalesce(quote_ident(u.rolname), ''),
       coalesce(a.application_name, '')
from pg_locks as l
  left join pg_stat_activity as a on a.pid = l.pid
  left join pg_roles as u on u.oid = a.usesysid
where l.locktype = 'relation' and l.relation = $1::oid and l.granted and l.pid is distinct from pg_backend_pid()
  and l.database = (select d.oid from pg_database as d where d.datname = current_database())
  and l.mode not in ('AccessShareLock', 'RowShareLock')
order by 2

-- name: outbox_size
-- Bytes of the outbox's leaves on disk, with indexes. The outbox is found next to capture_state, since the name of
-- Lockstep's schema cannot be written into a text.
select coalesce(sum(pg_total_relation_size(l.inhrelid)), 0)::bigint
from {schema}.capture_state as s
  join pg_class as q on q.oid = s.tableoid
  join pg_class as o on o.relnamespace = q.relnamespace and o.relname = 'outbox'
  join pg_inherits as l on l.inhparent = o.oid

-- name: pending_rows
-- The rows b of the outbox that the checkpoint c of the pipeline p has not passed: a part of a statement, from its "from" on.
from {schema}.outbox as b
where b.txid >= pg_snapshot_xmin(c.prev)
  and not pg_visible_in_snapshot(b.txid, c.prev)
  and not coalesce(
    pg_visible_in_snapshot(b.txid, c.cur) and (b.txid, b.id) <= (c.last_txid, c.last_id), false)
  and b.capture = any(array(select k.id from {schema}.capture as k where k.pipeline = p.id))
