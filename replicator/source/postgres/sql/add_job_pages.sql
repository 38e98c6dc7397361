-- Writes documents into the list of a fan-out, in pages: in the order of the query, each once. Returns their number.
--   job     its id
--   before  documents that are in the list already
--   ids     query of the ids as k, nulls and duplicates among them
with pages as (
  insert into {schema}.job_page (job, number, ids)
  select {job}, {before} + max(d.number), array_agg(d.id order by d.number)
  from (
    select f.k as id, row_number() over (order by min(f.place)) as number
    from (select q.k, row_number() over () as place from ({ids}) as q(k)) as f
    where f.k is not null
    group by f.k
  ) as d
  group by (d.number - 1) / 2000
  returning cardinality(ids) as documents
)
select coalesce(sum(documents), 0)::bigint from pages
