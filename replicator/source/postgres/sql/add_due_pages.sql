-- Makes documents due, in pages: in the order of the query, each once. Returns their number.
--   index, as_of, since, due_at, pause (seconds), reason  literals
--   documents  in a page, at most
--   ids        query of the ids as k, nulls and duplicates among them
with pages as (
  insert into {schema}.due (index, as_of, since, due_at, not_before, reason, ids, documents)
  select {index}, {as_of}, {since}, {due_at},
         case when {pause} > 0 then clock_timestamp() + make_interval(secs => {pause}) else '-infinity' end,
         {reason}, page.ids, cardinality(page.ids)
  from (
    select min(d.number) as first, array_agg(d.id order by d.number) as ids
    from (
      select f.k as id, row_number() over (order by min(f.place)) as number
      from (select q.k, row_number() over () as place from ({ids}) as q(k)) as f
      where f.k is not null
      group by f.k
    ) as d
    group by (d.number - 1) / {documents}
  ) as page
  order by page.first
  returning documents
)
select coalesce(sum(documents), 0)::bigint from pages
