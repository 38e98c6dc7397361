-- Moves the pipelines of the schema to now, and adds comparisons of all their indices. All pipelines, because one that
-- has no max_outbox_size now may have had one. $1 is the reason.
with moved as (
  update {schema}.checkpoint as c
  set prev = pg_current_snapshot(), cur = null, last_txid = '0', last_id = 0
  returning c.pipeline
)
insert into {schema}.job (pipeline, index, kind, reason)
select i.pipeline, i.id, k.kind, $1
from {schema}.index as i
  join moved as m on m.pipeline = i.pipeline
  cross join (values (1, 'comparison'), (2, 'sweep')) as k(number, kind)
where i.followed and not exists (select from {schema}.job as j where j.index = i.id and j.kind = k.kind and j.position is null)
order by i.id, k.number
