-- Reads a chunk of the outbox and adds it up: a row for each capture with its distinct values, and a last row
-- (capture null) with the position behind the chunk. A large transaction is not read, and the chunk ends before it; a
-- chunk that would begin with it is empty, and the last row has the transaction and the id of its first row. `everything` is null for a capture that nobody can have
-- written since the last apply.
--   late  for each late transaction (it ran when the last batch was opened and has ended since)
--         read_late_transaction.sql; usually nothing
--   $1    rows at most
--   $2    values at most; the row that passes it is the last
--   $3    the pipeline's captures
--   $4, $5  transaction and id behind which the chunk begins
--   $6    xmax of the batch's snapshot
--   $7    the batch's snapshot
--   $8    a transaction that goes on behind the chunk is large when it has more values left; null: none is. It is looked
--         through no further than so many of its rows
-- A limit that the planner does not know makes it expect few of the rows, and walk the index in order. Where it
-- expects no more rows than the limit (fresh leaves have no statistics) it would read all of them and sort.
-- Both lower bounds name one position: PostgreSQL takes either to enter the index, and would walk over everything
-- that was consumed if one were lower. Without "txid >=" it expects many rows, and sorts them.
with batch as (
  select o.txid, o.id, o.capture, o.keys, o.at
  from {schema}.outbox as o
  where o.txid >= $4::xid8 and o.txid < $6::xid8 and (o.txid, o.id) > ($4::xid8, $5::bigint)
    and pg_visible_in_snapshot(o.txid, $7::pg_snapshot)
  order by o.txid, o.id
  limit (select $1::bigint)
), rows as materialized (
  select r.txid, r.id, r.capture, r.keys, r.at, coalesce(cardinality(r.keys), 1) as width
  from (
    select * from batch {late}
    order by txid, id
    limit (select $1::bigint)
  ) as r
), counted as (
  select rows.*, sum(rows.width) over (order by rows.txid, rows.id) - rows.width as values_before from rows
), within as materialized (
  select counted.* from counted where counted.values_before < $2::bigint
), cut as (
  select within.txid, (select min(w.id) from within as w where w.txid = within.txid) as first_id
  from within
  where $8::bigint is not null
    and ((select count(*) from within) < (select count(*) from rows) or (select count(*) from rows) >= $1::bigint)
  order by within.txid desc, within.id desc
  limit 1
), large as materialized (
  select cut.txid, cut.first_id
  from cut
  where (select sum(rows.width) from rows where rows.txid = cut.txid) > $8::bigint
    or $8::bigint < (
      select count(*)
      from (
        select 1
        from {schema}.outbox as o
        where o.txid = cut.txid and o.id >= cut.first_id
        order by o.txid, o.id
        limit (select $8::bigint + 1)
      ) as ahead)
), picked as materialized (
  select within.* from within where not exists (select 1 from large where large.txid = within.txid)
), by_capture as (
  select picked.capture,
         array_agg(distinct k.key) filter (where k.key is not null) as keys,
         bool_or(picked.keys is null) as everything
  from picked left join lateral unnest(picked.keys) as k(key) on true
  where picked.capture = any($3::integer[])
  group by picked.capture
), unknown as (
  -- Rows of captures that an apply has dropped are older than it.
  select distinct picked.capture
  from picked
  where picked.capture <> all($3::integer[])
    and not exists (select 1 from {schema}.capture as c where c.id = picked.capture)
    and picked.at > (select max(p.applied_at) from {schema}.pipeline as p)
), summary as (
  select count(*) as rows,
         (array_agg(picked.txid order by picked.txid desc, picked.id desc))[1] as last_txid,
         (array_agg(picked.id order by picked.txid desc, picked.id desc))[1] as last_id,
         extract(epoch from clock_timestamp() - coalesce(min(picked.at), (select min(within.at) from within)))
           as oldest_age,
         count(*) < (select count(*) from rows) or (select count(*) from rows) >= $1::bigint as more,
         case when count(*) = 0 then (select large.txid from large) end as large_txid,
         case when count(*) = 0 then (select large.first_id from large) end as large_id
  from picked
)
select by_capture.capture, by_capture.keys::text, by_capture.everything,
       null::bigint, null::text, null::bigint, null::numeric, null::boolean,
       null::text, null::bigint
from by_capture
union all
select unknown.capture, null, null, null, null, null, null, null, null, null
from unknown
union all
select null, null, null, summary.rows, summary.last_txid::text, summary.last_id, summary.oldest_age, summary.more,
       summary.large_txid::text, summary.large_id
from summary
