-- What stands in lockstep's own tables and belongs to no index, in sentences.
--   ?1  the pipeline
select 'lockstep''s table ' || s.name || ' has a row of index ' || s.index_id
       || ', which no pipeline has; something else wrote it: delete the row'
from (
  select 'set_aside' as name, a.index_id from {schema}_set_aside as a
  union
  select 'dead_letter', d.index_id from {schema}_dead_letter as d
) as s
where not exists (select 1 from {schema}_index as i where i.id = s.index_id)
union all
select 'job ' || j.id || ' is of index ' || j.index_id
       || ', which this pipeline does not have, so nobody does it; something else wrote it: correct it or delete it'
from {schema}_job as j
where j.pipeline = ?1
  and not exists (select 1 from {schema}_index as i where i.id = j.index_id and i.pipeline = j.pipeline)
