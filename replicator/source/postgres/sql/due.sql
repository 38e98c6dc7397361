-- name: add_due_pages
-- Makes documents due, in pages: in the order of the query, each once. Those that are on a page already, one that no pause
-- delays, join it: a later rendering of it makes up for them, too. Its `as_of` shows that to a process that has read it
-- before, so none join one without it. A page that is taken off at the same time keeps none of them, which `read committed`
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

-- name: join_waiting_pages
-- Lets documents that become due again join pages that wait for a pause, or are tried behind one: a rendering of these makes
-- up for them, too. Returns which of them are due so, page by page.
--   $1  index
--   $2  ids
--   $3  the version under which a rendering makes up for them, or null
--   $4  the number that they are due since, or null
--   $5  numbers of pages that this transaction takes off
update {schema}.due as d
set as_of = case when d.as_of is not null and $3::bigint is not null then greatest(d.as_of, $3::bigint) end,
    since = least(coalesce(d.since, d.number), coalesce($4::bigint, d.number))
where d.index = $1 and d.ids && $2::text[] and d.number <> all ($5::bigint[]) and d.due_at <= clock_timestamp()
  and (d.not_before > clock_timestamp() or (d.not_before > '-infinity' and d.as_of < $3::bigint))
returning array(select unnest(d.ids) intersect select unnest($2::text[]))::text

-- name: next_due
-- An index's due work, apart from the pages in hand: the next page (null: none is ready), whether there are changes whose
-- documents are still to be found, whether a large transaction is among them, and the milliseconds until a page that must
-- wait is ready.
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

-- name: take_off_pages
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

-- name: due_lists
-- The due work of each index of a pipeline: documents on pages, changes whose documents are still to be found, whether a
-- large transaction is among them, the least number since which it is due and the greatest number, the seconds since the
-- oldest became due, and its reason.
--   $1  the pipeline
select d.index, coalesce(sum(d.documents), 0)::bigint, count(*) filter (where d.ids is null),
       bool_or(d.transaction is not null), min(coalesce(d.since, d.number)), max(d.number),
       greatest(extract(epoch from clock_timestamp() - min(d.due_at)), 0)::float8, (array_agg(d.reason order by d.due_at, d.number))[1]
from {schema}.due as d
where d.index in (select i.id from {schema}.index as i where i.pipeline = $1) and d.due_at <= clock_timestamp()
group by d.index
order by d.index

-- name: due_changes
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
