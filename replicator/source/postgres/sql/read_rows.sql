-- Adds up what a number of rows of the outbox say: a line for each capture with its distinct values, and a last
-- one (capture null) with the place behind the last row.
--   rows   the rows to look at, in order (read_old_transaction.sql, read_range.sql), at most $1 of them
--   $1      rows at most
--   $2      values at most; the row that passes it is the last
--   $3      the pipeline's captures
with rows as materialized (
  select r.txid, r.id, r.capture, r.keys, r.at, coalesce(cardinality(r.keys), 1) as width
  from ({rows}) as r
), counted as (
  select rows.*, sum(rows.width) over (order by rows.txid, rows.id) - rows.width as values_before from rows
), picked as materialized (
  select counted.* from counted where counted.values_before < $2::bigint
), by_capture as (
  select picked.capture,
         array_agg(distinct k.key) filter (where k.key is not null) as keys,
         bool_or(picked.keys is null) as everything
  from picked left join lateral unnest(picked.keys) as k(key) on true
  where picked.capture = any($3::integer[])
  group by picked.capture
), summary as (
  select count(*) as rows,
         (array_agg(picked.txid order by picked.txid desc, picked.id desc))[1] as last_txid,
         (array_agg(picked.id order by picked.txid desc, picked.id desc))[1] as last_id,
         extract(epoch from clock_timestamp() - min(picked.at)) as oldest_age,
         count(*) < (select count(*) from rows) or (select count(*) from rows) >= $1::bigint as more
  from picked
)
select by_capture.capture, by_capture.keys::text, by_capture.everything,
       null::bigint, null::text, null::bigint, null::numeric, null::boolean
from by_capture
union all
select null, null, null, summary.rows, summary.last_txid::text, summary.last_id, summary.oldest_age, summary.more
from summary
