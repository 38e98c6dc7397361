-- Makes documents due, in pages: in the order of the query, each once. Those that are on a page already, one that no pause
-- keeps back, join it: whoever renders it after that makes up for them, too. Its `as_of` tells that to whoever has read it
-- before, so one without joins nothing. A page that is taken off at the same time keeps none of them, which `read committed`
-- sees. Returns how many documents there are.
--   index, as_of, since, due_at, pause (seconds), reason  literals
--   may_join   pages up to this number; 0: none
--   documents  in a page, at most
--   ids        query of the ids as k, nulls and duplicates among them
with found as materialized (
  select f.k as id, min(f.place) as place
  from (select q.k, row_number() over () as place from ({ids}) as q(k)) as f
  where f.k is not null
  group by f.k
),
page as (
  select d.number
  from {schema}.due as d
  where d.number in (
    select p.number
    from {schema}.due as p cross join unnest(p.ids) as i(id) join found as f on f.id = i.id
    where p.index = {index} and p.number <= {may_join} and p.ids is not null and p.not_before = '-infinity'
      and p.as_of is not null
  )
  order by d.number
  for update
),
joined as (
  update {schema}.due as d
  set as_of = case when {as_of}::bigint is not null then greatest(d.as_of, {as_of}) end,
      since = least(coalesce(d.since, d.number), {since})
  from page
  where d.number = page.number
  returning d.ids
),
left_over as (
  select f.id, row_number() over (order by f.place) as number
  from found as f
  where not exists (select from (select unnest(j.ids) as id from joined as j) as known where known.id = f.id)
),
added as (
  insert into {schema}.due (index, as_of, since, due_at, not_before, reason, ids, documents)
  select {index}, {as_of}, {since}, {due_at},
         case when {pause} > 0 then clock_timestamp() + make_interval(secs => {pause}) else '-infinity' end,
         {reason}, page.ids, cardinality(page.ids)
  from (
    select min(d.number) as first, array_agg(d.id order by d.number) as ids
    from left_over as d
    group by (d.number - 1) / {documents}
  ) as page
  order by page.first
)
select count(*) from found
