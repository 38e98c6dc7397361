-- What is due of an index, apart from the pages in hand: the next page (null: none is ready), whether there are changes
-- whose documents are still to be found, whether a large transaction is among them, and the milliseconds until a page
-- that must wait is ready.
--   $1  index
--   $2  numbers of the pages in hand
select p.number, coalesce(p.since, p.number), p.as_of, p.ids::text,
       exists (select from {schema}.due as c where c.index = $1 and c.ids is null),
       exists (select from {schema}.due as c where c.index = $1 and c.transaction is not null),
       case when p.number is null then (
         select ceil(extract(epoch from min(w.not_before) - clock_timestamp()) * 1000)::bigint
         from {schema}.due as w
         where w.index = $1 and w.ids is not null and w.number <> all ($2::bigint[]) and w.due_at <= clock_timestamp()
       ) end
from (values (1)) as one
  left join lateral (
    select d.number, d.since, d.as_of, d.ids
    from {schema}.due as d
    where d.index = $1 and d.ids is not null and d.number <> all ($2::bigint[]) and d.not_before <= clock_timestamp()
    order by d.number
    limit 1
  ) as p on true
