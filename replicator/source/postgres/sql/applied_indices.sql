-- The indices of a pipeline.
--   $1  the pipeline
select id, alias, view, id_type, routed, to_json(fields)::text as fields, definition
from {schema}.index
where pipeline = $1
order by id
