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
