-- name: find_pipeline
-- A pipeline by its name, and which database this is.
--   $1       the name
--   place, unnamed_place  as in session/place.h
select p.id, p.identity::text,
       {place},
       {unnamed_place},
       pg_is_in_recovery()
from {schema}.pipeline as p
where p.name = $1

-- name: take_point
-- A snapshot of all that is committed, and of what it sees: a part of a tracked table that is not followed yet, in words (null:
-- there is none), and whether parts may have been followed after a transaction.
--   changed_parts  find_changed_parts.sql
--   $1, $2         of that
--   $3             the transaction; null: none in particular
select pg_current_snapshot()::text,
       (select d.change from ({changed_parts}) as d (relation, function, part, change) limit 1),
       coalesce((select p.parts_followed > $3::xid8 from {schema}.pipeline as p where p.id = $1), false)

-- name: find_pending
-- Whether rows of the outbox that a snapshot sees are not acknowledged. The outbox is looked up in the same way as by the
-- tail: a range of transactions, and each of those that were still running before on its own.
--   $1  the pipeline's captures
--   $2  xmax of the checkpoint's snapshot
--   $3  the snapshot, $4 its xmax
--   $5  the transaction and $6 the id of the last row that is acknowledged of the open batch
--   $7  transactions that the checkpoint has seen running and the snapshot sees
--   $8  the open batch's snapshot, or null
select exists (
  select 1
  from {schema}.outbox as o
  where o.txid >= greatest($2::xid8, $5::xid8)
    and (o.txid, o.id) > (greatest($2::xid8, $5::xid8), case when $5::xid8 >= $2::xid8 then $6::bigint else 0 end)
    and o.txid < $4::xid8
    and pg_visible_in_snapshot(o.txid, $3::pg_snapshot) and o.capture = any($1::integer[])
) or exists (
  select 1
  from {schema}.outbox as o
  where o.txid = any($7::xid8[]) and o.capture = any($1::integer[])
    and not coalesce(
      pg_visible_in_snapshot(o.txid, nullif($8::text, '')::pg_snapshot) and (o.txid, o.id) <= ($5::xid8, $6::bigint), false)
)

-- name: find_pending_of_transaction
-- Whether rows of the outbox that one transaction has written are not acknowledged.
--   $1  the pipeline's captures
--   $2  the transaction, which the checkpoint's snapshot does not see
--   $3  the open batch's snapshot, or null
--   $4  the transaction and $5 the id of the last row that is acknowledged of that batch
select exists (
  select 1
  from {schema}.outbox as o
  where o.txid = $2::xid8 and o.capture = any($1::integer[])
    and not coalesce(
      pg_visible_in_snapshot(o.txid, nullif($3::text, '')::pg_snapshot) and (o.txid, o.id) <= ($4::xid8, $5::bigint), false)
)

-- name: unfinished_work
-- Work that an index may lack apart from the outbox: a line for each job that is not finished, for each due list, and for
-- each paused index (without a job and a list). Searchers do not see a generation next to another, so no client waits for
-- it, until the alias is about to move there.
--   $1  the pipeline
-- The job, what it is in words, whether it is a sweep; of a list, the least number that it is due since, and the greatest.
select j.id, coalesce(j.kind, 'a job of no kind') || ' of ' || i.alias || ', ' || to_char(j.done, 'FM999,999,999,999,990')
         || coalesce(' of about ' || to_char(j.total, 'FM999,999,999,999,990'), '')
         || case coalesce(j.total, j.done) when 1 then ' document' else ' documents' end || ' so far' as what, j.kind = 'sweep' as is_sweep, null::bigint as oldest, null::bigint as newest
from {schema}.job as j
  join {schema}.index as i on i.id = j.index
where j.pipeline = $1 and not exists (select from {schema}.reindex as r where r.beside = i.id and r.state <> 'swapping')
union all
select null, case l.documents when 0 then 'documents of ' || i.alias || ' are due that are still to be found'
                              when 1 then '1 document of ' || i.alias || ' is due'
                              else to_char(l.documents, 'FM999,999,999,999,990') || ' documents of ' || i.alias || ' are due' end, false, l.oldest, l.newest
from {schema}.index as i
  cross join lateral (
    select coalesce(sum(d.documents), 0) as documents, min(coalesce(d.since, d.number)) as oldest, max(d.number) as newest
    from {schema}.due as d
    where d.index = i.id and d.due_at <= clock_timestamp()
    having count(*) > 0
  ) as l
where i.pipeline = $1 and not exists (select from {schema}.reindex as r where r.beside = i.id and r.state <> 'swapping')
union all
select null, i.alias || ': ' || coalesce(nullif(a.reason, ''), 'no reason is stored'), false, null, null
from {schema}.set_aside as a
  join {schema}.index as i on i.id = a.index
where i.pipeline = $1 and not exists (select from {schema}.reindex as r where r.beside = i.id and r.state <> 'swapping')
order by 1 nulls first
