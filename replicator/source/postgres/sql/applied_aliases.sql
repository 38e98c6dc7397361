-- The aliases of a pipeline's indices.
--   $1  the pipeline's name
select i.alias
from {schema}.index as i
  join {schema}.pipeline as p on p.id = i.pipeline
where p.name = $1
order by i.id
