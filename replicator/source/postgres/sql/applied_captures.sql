-- The captures of a pipeline.
--   $1  the pipeline
select id, relation, expression, value_type, to_json(columns)::text
from {schema}.capture
where pipeline = $1
order by id
