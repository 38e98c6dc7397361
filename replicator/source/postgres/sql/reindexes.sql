-- name: start_reindex
-- Starts a reindex of an alias, in place of one that has failed. No row: the alias has one.
--   $1  the pipeline
--   $2  the alias
--   $3  the mapping file of the new index
--   $4  how long the other generation is followed after each swap, in seconds
--   $5  how many documents a second are written or compared at most; null: no limit
insert into {schema}.reindex as r (pipeline, alias, mapping, keep, live, max_rate)
select i.pipeline, i.alias, $3, make_interval(secs => $4::bigint), i.id, $5
from {schema}.index as i
where i.pipeline = $1 and i.alias = $2
on conflict (pipeline, alias) do update
set state = 'creating', mapping = excluded.mapping, keep = excluded.keep, live = excluded.live, max_rate = excluded.max_rate, kept_until = null, wanted = null,
    forced = false, reason = '', failure = '', beside = null, live_name = '', beside_name = '',
    started_at = clock_timestamp(), changed_at = clock_timestamp()
where r.state = 'failed'
returning r.id

-- name: advance_reindex
-- Takes a reindex from one state to the next (migration 0014), unless an `apply` is under way: that reads the generations more
-- than once, and would drop one that came between. Its lock: define/definition.cc.
--   $1 to $10  what advance_reindex() takes
--   $11        Lockstep's schema
select case
  when pg_try_advisory_xact_lock_shared(hashtextextended('lockstep apply ' || $11, 0))
    then {schema}.advance_reindex($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  else 'applying'
end

-- name: read_reindexes
-- The reindexes of a pipeline, oldest first.
--   $1  the pipeline
select r.id, r.alias, r.state, r.mapping, r.live, r.beside, r.live_name, r.beside_name, coalesce(r.wanted, ''), r.forced,
       r.kept_until is not null,
       greatest(coalesce(ceil(extract(epoch from r.kept_until - clock_timestamp())), 0), 0)::bigint,
       r.reason, r.failure, coalesce(b.configured::json ->> 'view', ''),
       b.id is not null and b.configured is distinct from l.configured, r.max_rate
from {schema}.reindex as r
  left join {schema}.index as l on l.id = r.live
  left join {schema}.index as b on b.id = r.beside
where r.pipeline = $1
order by r.id

-- name: count_refused_beside
-- How many documents are dead letters of one generation and not of the other.
--   $1  the one
--   $2  the other
select count(*)
from {schema}.dead_letter as d
where d.index = $1
  and not exists (select from {schema}.dead_letter as o where o.index = $2 and o.id = d.id and o.routing = d.routing)

-- name: note_pace
-- Notes how fast the last job of a kind over a whole index was, unless the index is gone.
--   $1  the index
--   $2  the kind of job
--   $3  how many documents
--   $4  in how many milliseconds
insert into {schema}.pace as p (index, kind, documents, milliseconds)
select i.id, $2, $3, $4
from {schema}.index as i
where i.id = $1
on conflict (index, kind) do update
set documents = excluded.documents, milliseconds = excluded.milliseconds
