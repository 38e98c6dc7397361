-- Takes off pages of which every document has its outcome. One that documents have joined since it was read is tried again
-- after a pause; returns the indices of these.
--   $1  numbers of the pages
--   $2  the `as_of` of each when it was read, or null
--   $3  seconds
with written as (
  select w.number, w.as_of from unnest($1::bigint[], $2::bigint[]) as w (number, as_of)
),
gone as (
  delete from {schema}.due as d using written as w
  where d.number = w.number and d.as_of is not distinct from w.as_of
  returning d.number
)
update {schema}.due as d
set not_before = clock_timestamp() + make_interval(secs => $3::double precision)
where d.number in (select w.number from written as w except select g.number from gone as g)
returning d.index
