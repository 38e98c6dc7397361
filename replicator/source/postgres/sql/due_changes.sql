-- The oldest changes of an index whose documents are still to be found, or the large transaction before them: number, capture
-- and values, or the transaction and the last row that is read of it; then the version and the time of each.
--   $1  index
--   $2  up to this number
--   $3  bytes of values from which on no more are taken
select c.number, c.capture, c.keys::text, c.transaction::text, c.read_to, c.as_of, c.due_at::text
from (
  select d.*, row_number() over w as place,
         coalesce(sum(pg_column_size(d.keys || array[]::text[])) over (w rows between unbounded preceding and 1 preceding), 0) as before,
         count(d.transaction) over w as transactions
  from {schema}.due as d
  where d.index = $1 and d.ids is null and d.number <= $2::bigint
  window w as (order by d.number)
) as c
where c.before < $3::bigint and (c.transactions = 0 or c.place = 1)
order by c.number
