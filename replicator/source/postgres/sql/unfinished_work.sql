-- What an index may lack beside what is in the outbox: a line for each job that is not finished, and for each index that is
-- set aside (its job is null). A repair is a list of documents that has a reason: what another job could not write, for one.
-- Searchers do not see a generation that is beside another, so nobody waits for it.
--   $1  the pipeline
select j.id, coalesce(j.kind, 'a job of no kind') || ' of ' || i.alias || ', ' || j.done || coalesce(case when j.kind = 'fan_out' then ' of ' else ' of about ' end || j.total, '')
         || ' documents so far' as what, i.id as index,
       j.kind = 'fan_out' and j.reason <> '' as is_repair, j.kind = 'sweep' as is_sweep
from {schema}.job as j
  join {schema}.index as i on i.id = j.index
where j.pipeline = $1 and not exists (select from {schema}.reindex as r where r.beside = i.id)
union all
select null, i.alias || ': ' || coalesce(nullif(a.reason, ''), 'no reason is stored'), i.id, false, false
from {schema}.set_aside as a
  join {schema}.index as i on i.id = a.index
where i.pipeline = $1 and not exists (select from {schema}.reindex as r where r.beside = i.id)
order by 1 nulls first
