-- The aliases of a pipeline's indices. The schema of an older lockstep lacks the column followed.
--   $1  the pipeline's name
select i.alias
from {schema}.index as i
  join {schema}.pipeline as p on p.id = i.pipeline
where p.name = $1 and (to_jsonb(i) ->> 'followed') is distinct from 'false'
order by i.id
