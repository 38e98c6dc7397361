-- Takes off pages of which every document has its outcome. One that documents have joined since it was read is tried again
-- after a pause; returns the indices of these. REQUIRES: `read committed`, as what joins them.
--   $1  numbers of the pages
--   $2  the `as_of` of each when it was read, or null
--   $3  seconds
with written as (
  select w.number, w.as_of from unnest($1::bigint[], $2::bigint[]) as w (number, as_of)
),
page as (
  select d.number, d.as_of from {schema}.due as d where d.number in (select w.number from written as w) order by d.number for update
),
gone as (
  delete from {schema}.due as d using page as p join written as w on w.number = p.number and w.as_of is not distinct from p.as_of
  where d.number = p.number
)
update {schema}.due as d
set not_before = clock_timestamp() + make_interval(secs => $3::double precision)
from page as p join written as w on w.number = p.number and w.as_of is distinct from p.as_of
where d.number = p.number
returning d.index
