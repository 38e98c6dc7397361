-- name: save_dead_letter
-- Keeps a refused document as a dead letter, or counts one more try.
insert into {schema}.dead_letter as d (index, id, routing, version, status, error_type, reason, first_at, last_at)
values ($1, $2, $3, $4, $5, $6, $7, statement_timestamp(), statement_timestamp())
on conflict (index, id, routing) do update
set version = excluded.version, status = excluded.status, error_type = excluded.error_type,
    reason = excluded.reason, last_at = excluded.last_at, tries = d.tries + 1

-- name: clear_dead_letters
-- Forgets the dead letters of documents that Elasticsearch has applied since.
--   $1, $2, $3  indices, ids and versions of the documents
delete from {schema}.dead_letter as d
using unnest($1::integer[], $2::text[], $3::bigint[]) as a(index, id, version)
where d.index = a.index and d.id = a.id and d.version <= a.version

-- name: find_dead_letters
-- A page of the dead letters that match, in the order of their primary key.
--   matching  condition over d, of parameters $1 to $5
--   $6, $7, $8  index, id and routing behind which the page begins
--   $9  the most rows
select d.index, d.id, d.routing, d.version, d.status, d.error_type, d.reason,
       to_char(d.first_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as first_at,
       to_char(d.last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as last_at, d.tries
from {schema}.dead_letter as d
where {matching} and (d.index, d.id, d.routing) > ($6::integer, $7::text, $8::text)
order by d.index, d.id, d.routing
limit $9::bigint

-- name: find_due_dead_letters
-- The dead letters whose writes may work later and that have waited long enough: ten seconds, twice as long with
-- each try, an hour at most.
--   $1  indices
--   $2  the most rows
select d.index, d.id, d.routing, d.version, d.status, d.error_type, d.reason
from {schema}.dead_letter as d
where d.index = any($1::integer[])
  and (d.status in (0, 408, 429) or d.status >= 500)
  and d.last_at <= clock_timestamp() - least(interval '1 hour', interval '10 s' * power(2, least(d.tries, 10) - 1))
order by d.last_at
limit $2::bigint

-- name: find_new_dead_letters
-- Which of the documents refused are no dead letters: the first position of each in the arrays, counted from 0.
--   $1, $2, $3  indices, ids and routings
select min(r.place) - 1
from unnest($1::integer[], $2::text[], $3::text[]) with ordinality as r(index, id, routing, place)
where not exists (
  select 1 from {schema}.dead_letter as d where d.index = r.index and d.id = r.id and d.routing = r.routing)
group by r.index, r.id, r.routing
order by 1

-- name: matching_dead_letters
-- Condition over lockstep.dead_letter as d: the dead letters that a person means.
--   $1  indices
--   $2  ids; empty: any
--   $3  the error type, or a part of the reason, ignoring case; empty: any
--   $4, $5  last refused since and until, inclusive; null: whenever
d.index = any($1::integer[])
and (cardinality($2::text[]) = 0 or d.id = any($2::text[]))
and ($3::text = '' or lower(d.error_type) = lower($3::text) or strpos(lower(d.reason), lower($3::text)) > 0)
and d.last_at >= coalesce($4::timestamptz, '-infinity')
and d.last_at <= coalesce($5::timestamptz, 'infinity')

-- name: repairable_documents
-- The ids, as k, of the documents found that rendering by _id can repair.
--   repairable         condition over f.id and f.routing
--   ids, routings      of the documents found, as array literals
select f.id as k from unnest({ids}::text[], {routings}::text[]) as f(id, routing) where {repairable} order by f.id

-- name: find_unrepairable
-- A row when one of the documents found cannot be repaired by rendering it by _id.
--   repairable  condition over f.id and f.routing
--   $1, $2      ids and routings of the documents found
select 1
from unnest($1::text[], $2::text[]) as f(id, routing)
where not ({repairable})
limit 1
