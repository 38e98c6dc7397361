-- name: take_snapshot
-- The transaction's snapshot, and what may_be_shown.sql asks, as far as it is known already.
--   wal  pg_current_wal_insert_lsn(): a position behind every commit that the snapshot sees; null: unknown
--   is_flushed  whether the WAL is flushed until there; see may_be_shown.sql
--   $1   pipeline
select pg_current_snapshot()::text, {wal}::text, current_setting('synchronous_standby_names') = '' and {is_flushed},
       (select epoch from {schema}.checkpoint where pipeline = $1)

-- name: read_outbox
-- Reads a chunk of the outbox, in the order of transaction and id: with each row its age in microseconds, or null where it is
-- behind the chunk, and its values, or null where it has none or they are not wanted.
--   one   bytes that count as one value
--   late  for each late transaction (it ran when the last batch was opened and has ended since)
--         read_late_transaction.sql; usually nothing
--   $1    rows at most
--   $2    values at most; the row that passes it is the last with its values. Long ones count as several.
--   $3    the pipeline's captures; the rows of others come without values, but with the time at which they were written
--   $4, $5  transaction and id behind which the chunk begins
--   $6    xmax of the batch's snapshot
--   $7    the batch's snapshot
-- A limit that the planner does not know makes it expect few of the rows, and walk the index in order. Where it
-- expects no more rows than the limit (fresh leaves have no statistics) it would read all of them and sort.
-- Both lower bounds name one position: PostgreSQL takes either to enter the index, and would walk over everything
-- that was consumed if one were lower. Without "txid >=" it expects many rows, and sorts them.
-- Adding up is the reader's: parts of a statement that seldom have work take longer to set up than a change to read.
with batch as (
  select o.txid, o.id, o.capture, o.keys, o.at
  from {schema}.outbox as o
  where o.txid >= $4::xid8 and o.txid < $6::xid8 and (o.txid, o.id) > ($4::xid8, $5::bigint)
    and pg_visible_in_snapshot(o.txid, $7::pg_snapshot)
  order by o.txid, o.id
  limit (select $1::bigint)
)
select r.txid::text, r.id, r.capture, r.width,
       case when r.values_before < $2::bigint then (date_part('epoch', clock_timestamp() - r.at) * 1e6)::bigint end,
       case when r.values_before < $2::bigint and r.capture = any($3::integer[]) then r.keys::text end,
       case when r.capture <> all($3::integer[]) then r.at::text end
from (
  select w.*, coalesce(sum(w.width) over (rows between unbounded preceding and 1 preceding), 0) as values_before
  from (
    -- An array joined to an empty one is itself, uncompressed.
    select f.*, coalesce(greatest(cardinality(f.keys), pg_column_size(f.keys || array[]::text[]) / {one}), 1) as width
    from (
      select * from batch {late}
      order by txid, id
      limit (select $1::bigint)
    ) as f
  ) as w
) as r

-- name: read_late_transaction
-- A part of read_outbox: the rows of one late transaction. Each is looked up by itself, because one query over
-- all of them makes the planner walk the whole outbox.
--   txid   the transaction
--   after  id behind which its rows are read
union all
(select o.txid, o.id, o.capture, o.keys, o.at
 from {schema}.outbox as o
 where o.txid = '{txid}' and o.id > {after}
 order by o.txid, o.id
 limit (select $1::bigint))

-- name: goes_on_behind
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

-- name: find_unknown_captures
-- Those of the captures of rows that cannot have been written since the last apply. Rows of captures that an apply has
-- dropped are older than it.
--   $1, $2  the captures, and when each row was written
select distinct r.capture
from unnest($1::integer[], $2::timestamptz[]) as r(capture, at)
where not exists (select 1 from {schema}.capture as c where c.id = r.capture)
  and r.at > (select max(p.applied_at) from {schema}.pipeline as p)

-- name: may_be_shown
-- The epoch in this transaction's snapshot, and whether what the snapshot sees is durable without a commit.
--   $1  pipeline
--   $2  a position in the WAL behind every commit that the snapshot sees; null: where the WAL ends now
-- A commit becomes visible after its record is in the WAL and, unless its writer does not care (synchronous_commit = off),
-- flushed. With synchronous replication the flush here is not enough: only a commit waits for the standbys.
select epoch,
       pg_current_xact_id_if_assigned() is null
       and current_setting('synchronous_standby_names') = ''
       and pg_current_wal_flush_lsn() >= coalesce($2::pg_lsn, pg_current_wal_insert_lsn())
from {schema}.checkpoint
where pipeline = $1

-- name: has_passed
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

-- name: read_checkpoint
-- The facts that `wait` needs before it looks for pending changes: how far the checkpoint is, and other signs that an index
-- may lack changes. capture_state is a sequence, so its value is as of now; the state that it shows was committed before,
-- and is seen by the next statement.
--   $1  the pipeline
select c.prev::text, coalesce(c.cur::text, ''), c.last_txid::text, c.last_id,
       c.epoch, coalesce(p.applied_at::text, '') as applied_at,
       coalesce(c.partners ->> 'place', '') as place,
       coalesce(c.partners ->> 'unnamed_place', c.partners ->> 'place', '') as unnamed_place,
       (select s.last_value in (2, 3) from {schema}.capture_state as s) as given_up
from {schema}.checkpoint as c
  join {schema}.pipeline as p on p.id = c.pipeline
where c.pipeline = $1

-- name: save_checkpoint
-- Moves a pipeline's checkpoint, unless another epoch has begun.
--   $1  the pipeline, $2 the epoch
--   $3  the snapshot up to which everything is acknowledged
--   $4  the open batch's snapshot; empty: none is open
--   $5, $6  transaction and id of the last row of that batch that is acknowledged
update {schema}.checkpoint
set prev = $3::pg_snapshot, cur = nullif($4::text, '')::pg_snapshot, last_txid = $5::xid8, last_id = $6,
    written_at = clock_timestamp()
where pipeline = $1 and epoch = $2

-- name: skip_pending
-- Moves the pipelines of the schema to now, and adds comparisons of all their indices. All pipelines, because one that
-- has no max_outbox_size now may have had one. $1 is the reason.
with moved as (
  update {schema}.checkpoint as c
  set prev = pg_current_snapshot(), cur = null, last_txid = '0', last_id = 0
  returning c.pipeline
)
insert into {schema}.job (pipeline, index, kind, reason)
select i.pipeline, i.id, k.kind, $1
from {schema}.index as i
  join moved as m on m.pipeline = i.pipeline
  cross join (values (1, 'comparison'), (2, 'sweep')) as k(number, kind)
where i.followed and not exists (select from {schema}.job as j where j.index = i.id and j.kind = k.kind and j.position is null)
order by i.id, k.number
