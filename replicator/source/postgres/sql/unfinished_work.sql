-- What an index may lack beside what is in the outbox: a line for each job that is not finished, for each list of what is due,
-- and for each index that is set aside (without a job and a list).
-- Searchers do not see a generation that is beside another, so nobody waits for it, until the alias is about to move there.
--   $1  the pipeline
-- The job, what it is in words, whether it is a sweep; of a list, the least number that it is due since, and the greatest.
select j.id, coalesce(j.kind, 'a job of no kind') || ' of ' || i.alias || ', ' || j.done || coalesce(' of about ' || j.total, '')
         || case coalesce(j.total, j.done) when 1 then ' document' else ' documents' end || ' so far' as what, j.kind = 'sweep' as is_sweep, null::bigint as oldest, null::bigint as newest
from {schema}.job as j
  join {schema}.index as i on i.id = j.index
where j.pipeline = $1 and not exists (select from {schema}.reindex as r where r.beside = i.id and r.state <> 'swapping')
union all
select null, case l.documents when 0 then 'documents of ' || i.alias || ' are due that are still to be found'
                              when 1 then '1 document of ' || i.alias || ' is due'
                              else l.documents || ' documents of ' || i.alias || ' are due' end, false, l.oldest, l.newest
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
